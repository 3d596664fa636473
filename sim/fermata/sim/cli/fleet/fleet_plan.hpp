// SPDX-License-Identifier: Apache-2.0
#pragma once

// The plan of a fleet: an exploration, cut into the chunks that every exploration is cut into, and
// the canary, a test that must fail. What a chunk comes to is a function of the plan; where tests
// are fuzzed, of the plan and of the corpus that it begins with (fleet_generations.hpp).

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
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

  /// What a plan says beside what is explored.
  struct Terms {
    /// How long a worker may be silent before others do its chunk.
    std::chrono::milliseconds lease;
    /// What looks up the names in reports, on every machine alike (fleet_names.hpp); empty:
    /// nothing.
    std::string names = {};
    Seeds seeds = {};
    /// How long all workers together are to have chunks; nothing: until all runs are done.
    std::optional<std::chrono::milliseconds> time = {};
  };

  /// Cuts `plan`. Throws UsageError when neither its runs nor its time are limited.
  FleetPlan(Plan plan, Terms terms);

  /// The plan in the folder `root`. Throws UsageError when there is none.
  [[nodiscard]] static FleetPlan load(const std::string& root);
  void save(const std::string& root) const;

  [[nodiscard]] const Plan& exploration() const noexcept { return plan_; }
  [[nodiscard]] const Terms& terms() const noexcept { return terms_; }
  [[nodiscard]] std::chrono::milliseconds lease() const noexcept { return terms_.lease; }

  /// Whether the tests are fuzzed: their strategy is kLibFuzzer.
  [[nodiscard]] bool fuzzes() const;

  /// The first `count` chunks count, but at least one of each test: the plan's time is over.
  void close(std::size_t count);
  /// Whether it ends by time, and that is not over.
  [[nodiscard]] bool is_open() const noexcept { return terms_.time && !is_closed_; }
  /// Whether the run number `run` of a test is in a chunk that counts.
  [[nodiscard]] bool has_run(const std::string& test, std::uint64_t run) const;

  /// The number of chunks, which is beyond reach when it is open. The first is the canary; then
  /// come the first chunks of all tests, the second chunks, ...
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
  Terms terms_;
  std::uint64_t identity_;
  std::uint64_t chunks_of_a_test_;
  std::size_t size_;
  bool is_closed_ = false;
};

}  // namespace fermata::sim::cli
