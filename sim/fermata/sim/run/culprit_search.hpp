// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which decision of a failing run decides, and the run nearest to it that passes.
//
// Flipping     The run is repeated with one decision taken calmly; when it passes, that one is
//              needed. Of a minimal tape all are.
// Re-seeding   The run is repeated up to a decision, and everything after that is drawn anew, from
//              several seeds. The share of failures is small where nothing is settled yet and 1
//              where the failure cannot be avoided any more; it jumps at the decision that decides.
//              (FoundationDB draws that curve over time, for a person to look at.)

#include <cstdint>
#include <limits>

#include "fermata/sim/record/culprit.hpp"
#include "fermata/sim/run/runner.hpp"
#include "fermata/sim/tape/tape.hpp"

namespace fermata::sim {

struct CulpritLimits {
  std::uint64_t runs = 240;
  /// In all of its runs.
  std::uint64_t steps = 20'000'000;
  /// In one run whose rest is drawn anew; one that goes on for longer has not failed.
  std::uint64_t steps_of_run = std::numeric_limits<std::uint64_t>::max();
};

/// `tape` is of a run of `program` in a world with `options` that failed.
[[nodiscard]] Culprit find_culprit(const Program& program, const WorldOptions& options,
                                   const Tape& tape, const CulpritLimits& limits = {});

}  // namespace fermata::sim
