// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/audit/debugger_stops.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <string_view>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/guard/guard.hpp"
#include "fermata/system/system_calls.hpp"

extern "C" {
constinit fermata::sim::detail::DebuggerStops fermata_debugger_stops = {.magic = "fermata stops",
                                                                        .version = 1,
                                                                        .active = 0,
                                                                        .step = 0,
                                                                        .reason = 0,
                                                                        .changed_in = 0,
                                                                        .stop_in = 0,
                                                                        .stop_before = 0,
                                                                        .stop_at_failure = 0,
                                                                        .stop_at_end = 0,
                                                                        .stop_by_call = 0,
                                                                        .watched_address = 0,
                                                                        .watched_size = 0,
                                                                        .seen_size = 0,
                                                                        .seen = {}};

[[gnu::noinline]] void fermata_debugger_stop() {
  if (fermata_debugger_stops.stop_by_call == 0) fermata::os::kernel.raise(SIGTRAP);
}
}

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

constinit DebuggerStops& stops = fermata_debugger_stops;

/// Gives control to the debugger, which may fork this process to come back to.
void stop_here(DebuggerStops::Reason reason) {
  const AllowNondeterminism allowed;
  stops.reason = reason;
  fermata_debugger_stop();
}

/// Through the kernel: what is watched need not be mapped at all times.
bool read_memory(std::uint64_t address, std::size_t size, unsigned char* bytes) {
  static const int memory = os::kernel.open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  const ssize_t got = os::kernel.pread(memory, bytes, size, static_cast<off_t>(address));
  return got == static_cast<ssize_t>(size);
}

/// `step` has ended.
void look_at_watched(std::uint64_t step) {
  FERMATA_ASSERT(stops.watched_size <= DebuggerStops::kMostBytes);
  unsigned char now[DebuggerStops::kMostBytes];
  const std::size_t size = read_memory(stops.watched_address, stops.watched_size, now)
                               ? static_cast<std::size_t>(stops.watched_size)
                               : 0;
  if (size == stops.seen_size && std::memcmp(now, stops.seen, size) == 0) return;
  stops.changed_in = step;
  stops.seen_size = size;
  std::memcpy(stops.seen, now, size);
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

void begin_stops(std::uint64_t step) noexcept {
  stops.active = step != 0 ? 1 : 0;
  stops.step = 1;
  stops.stop_in = step;
}

bool stops_wanted() noexcept { return stops.active != 0; }

void stop_in_step(std::uint64_t step) {
  FERMATA_ASSERT(stops_wanted());
  if (stops.stop_in == 0 || step < stops.stop_in) return;
  stops.stop_in = 0;
  stop_here(DebuggerStops::kStep);
}

void stop_between_steps(std::uint64_t ended) {
  FERMATA_ASSERT(stops_wanted());
  stops.step = ended + 1;
  if (stops.watched_size != 0) look_at_watched(ended);
  if (stops.stop_before == 0 || ended + 1 < stops.stop_before) return;
  stops.stop_before = 0;
  stop_here(DebuggerStops::kBoundary);
}

void stop_at_failure() {
  if (stops_wanted() && stops.stop_at_failure != 0) stop_here(DebuggerStops::kFailure);
}

void stop_at_end() {
  if (stops_wanted() && stops.stop_at_end != 0) stop_here(DebuggerStops::kEnd);
  stops.active = 0;
}

}  // namespace fermata::sim::detail
