// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/process/process_wait.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::sim::detail {

bool ends_before(pid_t process, const std::function<bool()>& too_long) {
  FERMATA_ASSERT(process > 0);
  FERMATA_ASSERT(too_long != nullptr);
  constexpr int kGlance_ms = 20;
  const int end = static_cast<int>(os::kernel.syscall(SYS_pidfd_open, process, 0));
  if (end < 0) throw InputOutputError("cannot watch a process", errno);
  pollfd watched{end, POLLIN, 0};
  int ready = 0;
  while (ready <= 0 && !too_long()) ready = os::kernel.poll(&watched, 1, kGlance_ms);
  os::kernel.close(end);
  return ready > 0;
}

std::chrono::nanoseconds RunClock::on(std::uint64_t run) {
  const auto now = std::chrono::steady_clock::now();
  if (run != run_) {
    longest_ = std::max<std::chrono::nanoseconds>(longest_, now - began_);
    run_ = run;
    began_ = now;
  }
  FERMATA_ASSERT(now >= began_);
  return now - began_;
}

}  // namespace fermata::sim::detail
