// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes a failing run small: takes away every decision, and every part of the arguments, that its
// failure does not need. What is left fails with the same signature.
//
// Method   Delta debugging on the decisions (A. Zeller, R. Hildebrandt, "Simplifying and isolating
//          failure-inducing input", IEEE TSE 2002): first all that the world has decided, faults
//          and times, in one block; then whole streams, halves, quarters and so on down to single
//          decisions, the later ones first, since what comes after a decision depends on it; where
//          picks go, later ones that count from them come earlier. Then each drawn number is
//          lowered, and RapidCheck's ways to a smaller argument are tried, the decisions being
//          applied by key. At last latencies that only move a crash are dropped, and the crash
//          strikes at another wait; one pick, or number of the program, takes the place of all that
//          the world has decided, and one pick that of two, where one will do; pairs of decisions
//          are dropped; and each pick gives way to the latest one that will do: then it is the one
//          that makes the difference, not one that prepares it.
// Result   A run of its own, which replays strictly. When it is minimal no single decision can be
//          left out: the run without it passes, or fails in another way.

#include <cstdint>
#include <optional>
#include <string>

#include "fermata/sim/record/shrunk.hpp"
#include "fermata/sim/run/runner.hpp"
#include "fermata/sim/run/trials.hpp"

namespace fermata::sim {

/// Limits of the search; equal on every machine. It goes on while it makes progress.
struct ShrinkLimits {
  /// Runs in a row, and steps in them, that have not made the failing run smaller.
  std::uint64_t runs_in_vain = 500;
  std::uint64_t steps_in_vain = 20'000'000;
  /// In all of its runs; each time that a part of the decisions goes, the same part of it is added.
  /// More than a failing run has, or nothing is tried.
  std::uint64_t steps = 60'000'000;
};

/// The result of the search for a smaller run: one, or the reason why there is none.
struct ShrinkAttempt {
  std::optional<Shrunk> shrunk;
  std::string why_not;
};

/// Makes the run of `tape` small with the runs that `trials` makes, which are of the same tape.
[[nodiscard]] ShrinkAttempt shrink(Trials& trials, const Program& program, const Tape& tape,
                                   const ShrinkLimits& limits = {});

/// `tape` is of a run of `program` in a world with `options` that failed. Null when applying its
/// decisions by key does not give that failure again.
[[nodiscard]] std::optional<Shrunk> shrink(const Program& program, const WorldOptions& options,
                                           const Tape& tape, const ShrinkLimits& limits = {});

}  // namespace fermata::sim
