// SPDX-License-Identifier: Apache-2.0
#pragma once

// Exploring the schedules of a program from code: prints nothing, reads no environment. SIM_TEST is
// built on it.

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fermata/base/time.hpp"
#include "fermata/sim/record/found_failure.hpp"
#include "fermata/sim/run/distinct_runs.hpp"
#include "fermata/sim/run/runner.hpp"
#include "fermata/sim/tape/tape.hpp"
#include "fermata/sim/world/world.hpp"

namespace fermata::sim {

struct ExploreResult;

struct ExploreOptions {
  /// "Suite.Name"; for the tape.
  std::string name;
  std::uint64_t runs = 1'000;
  /// The number of the first one: an exploration can be cut into parts. A strategy that tries one
  /// schedule after the other does all it does in the part that has run 0.
  std::uint64_t first_run = 0;
  /// The seed of run 0; those of other runs follow from it.
  std::uint64_t seed = 1;
  std::string strategy = "portfolio";
  /// The faults as FERMATA_FAULTS names them; overrides `world.faults`.
  std::string faults = "all";
  /// Every how many runs one is executed twice and compared; 0 for never.
  std::uint64_t check_determinism = 64;
  /// Execute each of those a third time, in a world where a run of the same seed was cut off
  /// before its end: it must not differ by what that one has left behind.
  bool second_lives = false;
  /// Keep what the runs that were checked came to, so that others can repeat them.
  bool keep_checked = false;
  /// Go on after a failure, and keep of each signature the one of fewest steps; of several the
  /// first.
  bool keep_going = false;
  WorldOptions world;
  /// Whether runs that are like many before may be audited by samples; see AuditChoice. All else
  /// stays as it is, but a failure that only the audit sees may be found in a later run.
  bool adaptive_audit = true;
  /// Called before each run with its number and what the earlier ones came to; false: this is the
  /// end. May be empty.
  std::function<bool(std::uint64_t run, const ExploreResult& so_far)> on_run;
  /// The listener for decisions of all runs, also of twins; null: none.
  DecisionListener* listener = nullptr;
};

/// A run that was executed twice and came to the same.
struct CheckedRun {
  std::uint64_t run = 0;
  std::uint64_t seed = 0;
  std::string strategy;  // With all that it knew then.
  RunResult result;
};

/// A run, and how many steps it took.
struct LongRun {
  std::uint64_t run = 0;
  std::uint64_t steps = 0;
};

struct ExploreResult {
  std::uint64_t runs = 0;
  /// How many of the runs were skipped (World::skip), and why the first of them was. Those are in
  /// none of the numbers of behaviours.
  std::uint64_t skipped = 0;
  std::string skip_reason;
  std::uint64_t steps = 0;
  std::uint64_t steps_min = 0;
  std::uint64_t steps_max = 0;
  /// The longest runs by steps, the longest first; of equal ones the first.
  std::array<LongRun, 3> longest{};
  /// How many runs failed, and how many of those since they came to a limit.
  std::uint64_t failures = 0;
  std::uint64_t limit_stops = 0;
  std::uint64_t draws = 0;
  std::uint64_t determinism_checks = 0;
  /// The checked runs, kept with `keep_checked`.
  std::vector<CheckedRun> checked;
  /// How many different trace hashes the runs had that were not skipped.
  std::uint64_t distinct_runs = 0;
  DistinctRuns behaviours;
  /// What a strategy that tries one schedule after another has covered; otherwise empty.
  std::string coverage;
  /// How many of the runs each of several strategies had; see Strategy::shares().
  std::vector<StrategyShare> shares;
  /// The faults of the first run, a line each.
  std::string first_world;
  /// The sum over all runs.
  Duration virtual_time{};
  FaultCounts fault_counts{};
  /// The results of the program's assertions.
  Catalogue catalogue;
  /// A hash of all trace hashes in order: equal for explorations that were the same.
  std::uint64_t trace_hash = 0;
  std::optional<FoundFailure> found;
  /// With `keep_going`: those of other signatures, in the order in which they were met.
  std::vector<FoundFailure> others;

  /// Whether there were runs and nothing came of any: none failed, all were skipped.
  [[nodiscard]] bool is_skipped() const noexcept {
    return runs > 0 && skipped == runs && failures == 0;
  }
};

/// Ends at the first failure, unless told to go on. Throws Error when the options make no sense.
[[nodiscard]] ExploreResult explore(const ExploreOptions& options, const Program& program);
[[nodiscard]] ExploreResult explore(const ExploreOptions& options,
                                    std::function<void(World& world)> body);

/// Runs `program` with the decisions of `tape`, applied by key, and looks closely at the failure;
/// null when there is none.
[[nodiscard]] std::optional<FoundFailure> replay_closely(const Program& program,
                                                         const WorldOptions& options,
                                                         const Tape& tape);

/// A tape with everything that determines one run of an exploration, except decisions.
[[nodiscard]] Tape settings_tape(const ExploreOptions& options, std::string strategy,
                                 std::uint64_t seed);

/// The failure of the last run of `runner`, which records. `tape` has what fixes the run.
[[nodiscard]] FoundFailure describe_failure(const Runner& runner, const Program& program,
                                            Failure failure, const RunResult& result, Tape tape);

}  // namespace fermata::sim
