// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stops a replay under a debugger: at a step, where it fails, at its end. The first stop is at the
// step that FERMATA_BREAK_AT names; gdb's extension says there where the next one is.
//
// Symbol    fermata_debugger_stops, of C; read and written by runtime/gdb/fermata.py.
// Version   Grows with every change of DebuggerStops; the extension refuses what it does not know.
// Cost      None without FERMATA_BREAK_AT. With it a comparison in each step, and a read of the
//           watched bytes.

#include <cstddef>
#include <cstdint>
#include <string>

namespace fermata::sim::detail {

/// All numbers are eight bytes wide. The run reads what the debugger writes while it stands still.
struct DebuggerStops {
  static constexpr std::size_t kMostBytes = 64;
  enum Reason : std::uint64_t { kNone, kStep, kBoundary, kFailure, kEnd };

  char magic[16];  // "fermata stops".
  std::uint64_t version;

  // Written by the run.
  std::uint64_t active;      // Whether a run goes on that stops.
  std::uint64_t step;        // The one that goes on, as Failure::step counts.
  std::uint64_t reason;      // A Reason: of the last stop.
  std::uint64_t changed_in;  // The last step that left another value in the watched bytes.

  // Written by the debugger; 0 for none.
  std::uint64_t stop_in;      // Where the first coroutine has control in this step or a later one.
  std::uint64_t stop_before;  // Between this step and the one before, in whoever had control.
  std::uint64_t stop_at_failure;
  std::uint64_t stop_at_end;
  std::uint64_t stop_by_call;  // It has a breakpoint in fermata_debugger_stop(): no signals.
  std::uint64_t watched_address;
  std::uint64_t watched_size;  // At most kMostBytes.
  std::uint64_t seen_size;     // How many bytes of `seen` are known: all, or none as yet.
  unsigned char seen[kMostBytes];
};

/// Throws UsageError, with the command that would do, when `tape` is empty or this process runs
/// under no debugger: the signal would end it.
void require_debugger(const std::string& tape);

/// The run begins, and stops first in `step`, and where the debugger says; 0 if it never does.
void begin_stops(std::uint64_t step) noexcept;

[[nodiscard]] bool stops_wanted() noexcept;

/// A coroutine has come to run in `step`.
void stop_in_step(std::uint64_t step);
/// How many steps have ended.
void stop_between_steps(std::uint64_t ended);
void stop_at_failure();
/// The run is over, and stops no more.
void stop_at_end();

}  // namespace fermata::sim::detail

extern "C" {
extern fermata::sim::detail::DebuggerStops fermata_debugger_stops;
void fermata_debugger_stop();
}
