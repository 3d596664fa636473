// SPDX-License-Identifier: Apache-2.0
#include "fermata/posix/suspending/waiter.hpp"

#include <cerrno>
#include <vector>

#include "fermata/os/clock.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::posix {

int BlockingWaiter::wait(std::span<const pollfd> asked, Limit limit) {
  std::vector<pollfd> polled(asked.begin(), asked.end());
  timespec span = {};
  if (limit) span = os::to_timespec(limit->count());
  const int ready =
      os::kernel.ppoll(polled.data(), polled.size(), limit ? &span : nullptr, nullptr);
  if (ready < 0) return -errno;
  return ready == 0 ? -ETIMEDOUT : 0;
}

int BlockingWaiter::sleep(std::chrono::nanoseconds span) {
  const int slept = wait({}, span);
  return slept == -ETIMEDOUT ? 0 : slept;
}

int BlockingWaiter::run_blocking(std::function<void()> work) {
  work();
  return 0;
}

}  // namespace fermata::posix
