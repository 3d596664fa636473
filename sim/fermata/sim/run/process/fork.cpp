// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/process/fork.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"

namespace fermata::sim {

pid_t start_fork(const std::function<int()>& body) {
  FERMATA_ASSERT(body != nullptr);
  std::fflush(nullptr);  // Or both would print it.
  const pid_t process = ::fork();
  if (process < 0) throw InputOutputError("cannot fork", errno);
  if (process > 0) return process;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  int code = 1;
  try {
    code = body();
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
  }
  std::fflush(nullptr);
  ::_exit(code);
}

}  // namespace fermata::sim
