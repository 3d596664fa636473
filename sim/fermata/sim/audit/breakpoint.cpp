// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/audit/breakpoint.hpp"

#include <fmt/format.h>

#include <csignal>
#include <fstream>
#include <string_view>

#include "fermata/base/error.hpp"

namespace fermata::sim::detail {
namespace {

/// The process that traces this one; 0 when none does.
long tracer() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    constexpr std::string_view kTracer = "TracerPid:";
    if (line.starts_with(kTracer)) return std::stol(line.substr(kTracer.size()));
  }
  return 0;
}

std::string this_program() {
  std::ifstream command("/proc/self/cmdline");
  std::string program;
  std::getline(command, program, '\0');
  return program;
}

}  // namespace

void require_debugger(const std::string& tape) {
  if (tape.empty()) {
    throw UsageError(
        "FERMATA_BREAK_AT: expected FERMATA_REPLAY=TAPE too: only the steps of a replay are known");
  }
  if (tracer() != 0) return;
  throw UsageError(fmt::format(
      "FERMATA_BREAK_AT: this process runs under no debugger; expected it to be started by one, in "
      "the same environment: gdb -ex run --args {}",
      this_program()));
}

void break_here() { std::raise(SIGTRAP); }

}  // namespace fermata::sim::detail
