// SPDX-License-Identifier: Apache-2.0
#pragma once

// The plan of a fleet: an exploration, cut into the chunks that every exploration is cut into, and
// the canary, a test that must fail. What a chunk comes to is a function of the plan; where tests
// are fuzzed, of the plan and of the corpus that it begins with (fleet_generations.hpp).

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fermata/sim/cli/plan.hpp"
#include "fermata/sim/cli/run_range.hpp"
#include "fermata/sim/fleet/chunk_id.hpp"

namespace fermata::sim::cli {

/// A part of the plan.
struct FleetChunk {
  std::string test;
  std::uint64_t number = 0;  // Counts the chunks of its test, from 0.
  RunRange range;
  bool is_canary = false;
};

class FleetPlan {
 public:
  /// The names of the inputs that fuzzing a test begins with, by test.
  using Seeds = std::map<std::string, std::vector<std::string>>;

  /// Cuts `plan`, whose runs are limited; `names` is what names() gives. Throws UsageError when
  /// they are not.
  FleetPlan(Plan plan, std::chrono::milliseconds lease, std::string names = {}, Seeds seeds = {});

  /// The plan in the folder `root`. Throws UsageError when there is none.
  [[nodiscard]] static FleetPlan load(const std::string& root);
  void save(const std::string& root) const;

  [[nodiscard]] const Plan& exploration() const noexcept { return plan_; }
  /// How long a worker may be silent before others do its chunk.
  [[nodiscard]] std::chrono::milliseconds lease() const noexcept { return lease_; }

  /// What looks up the names in reports, on every machine alike (fleet_names.hpp); empty: nothing.
  [[nodiscard]] const std::string& names() const noexcept { return names_; }

  /// Whether the tests are fuzzed: their strategy is kLibFuzzer.
  [[nodiscard]] bool fuzzes() const;
  [[nodiscard]] const Seeds& seeds() const noexcept { return seeds_; }

  /// The number of chunks. The first is the canary; then come the first chunks of all tests, the
  /// second chunks, ...
  [[nodiscard]] std::size_t size() const noexcept;
  /// REQUIRES: index < size().
  [[nodiscard]] FleetChunk chunk(std::size_t index) const;
  /// What identifies the chunk, but for a corpus.
  [[nodiscard]] fleet::ChunkId id(std::size_t index) const;

  /// A hash of everything that decides what its chunks come to.
  [[nodiscard]] std::uint64_t identity() const noexcept { return identity_; }

  /// Whether every chunk of `other` is one of this.
  [[nodiscard]] bool is_same(const FleetPlan& other) const;

 private:
  [[nodiscard]] std::uint64_t chunks_of_a_test() const;

  Plan plan_;
  std::chrono::milliseconds lease_;
  std::string names_;
  Seeds seeds_;
  std::uint64_t identity_;
  std::uint64_t chunks_of_a_test_;
};

}  // namespace fermata::sim::cli
