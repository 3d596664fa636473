// SPDX-License-Identifier: Apache-2.0
#pragma once

// Why a simulated run failed, in a form that can be compared, printed and replayed.

#include <cstdint>
#include <string>

#include "fermata/base/time.hpp"

namespace fermata::sim {

enum class Verdict : std::uint8_t {
  Safety,          // an assertion, an unhandled error or an invariant of the audit
  Liveness,        // a livelock (step or time limit), or a stalled world
  Deadlock,        // no coroutine can ever run again
  Nondeterminism,  // the same decisions gave another run
  Leak,            // something outlived the run
  Divergence,      // a strict replay met another draw than its tape holds
  Missed,          // what should happen in some run of an exploration never did
};

/// "safety", "liveness", "deadlock", "nondeterminism", "leak", "divergence", "missed".
[[nodiscard]] const char* to_string(Verdict verdict) noexcept;

/// The exit code of a test process when this is the worst verdict that it saw.
[[nodiscard]] int exit_code(Verdict verdict) noexcept;

/// Whether `a` decides the exit code when both were seen.
[[nodiscard]] bool outweighs(Verdict a, Verdict b) noexcept;

struct Failure {
  Verdict verdict = Verdict::Safety;
  /// One line that says what is wrong.
  std::string message;
  /// The message as it was laid out over several lines, for people; empty when it had one.
  std::string message_lines = {};
  /// The coroutine whose code ran; empty when no coroutine's did.
  std::string coroutine;
  Instant at;
  /// The step that it happened in, or the last one before it; from 1 on, 0 when there was none.
  std::uint64_t step = 0;
  /// More for the reader, over several lines: who waits for what, what leaked. May be empty.
  std::string explanation;
  /// The wait graph as JSON (docs/guide/deadlocks.md). Empty where waits do not matter.
  std::string wait_graph;
  /// A limit on steps or time has stopped the run: it might have ended well.
  bool by_limit = false;
  /// Lines that belong right beneath the message: the limit when that is not the message, the ring,
  /// the faults that never ended. May be empty.
  std::string beneath = {};

  /// A text that is equal for failures which look the same: the verdict and the first line of the
  /// message, with each run of digits replaced by '#'.
  [[nodiscard]] std::string signature() const;
};

}  // namespace fermata::sim
