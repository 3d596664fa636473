// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the failure of a tape again when the program has been edited since: first by the keys, then
// with coroutines that were renamed, then with decisions that come some picks earlier or later.

#include <cstdint>
#include <optional>
#include <string>

#include "fermata/sim/run/explore.hpp"
#include "fermata/sim/run/runner.hpp"
#include "fermata/sim/tape/tape.hpp"

namespace fermata::sim {

struct ReanchorLimits {
  std::uint64_t runs = 2'000;
  /// In all of its runs.
  std::uint64_t steps = 20'000'000;
};

struct Reanchored {
  /// The failure as it is now; its tape is of the program as it is now.
  FoundFailure found;
  /// "412 of 415 decisions matched", and what else it took.
  std::string summary;
  std::size_t matched = 0;  // How many of the decisions that reports show.
  std::uint64_t runs = 0;
};

/// `tape` is of a run of an earlier version of `program` that failed. A run that fails with the
/// same verdict counts; its message may have been edited. Null when none was found.
[[nodiscard]] std::optional<Reanchored> reanchor(const Program& program,
                                                 const WorldOptions& options, const Tape& tape,
                                                 const ReanchorLimits& limits = {});

}  // namespace fermata::sim
