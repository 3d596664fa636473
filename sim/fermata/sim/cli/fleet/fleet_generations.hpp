// SPDX-License-Identifier: Apache-2.0
#pragma once

// The chunks of a plan whose tests are fuzzed. Those of one generation begin with what all chunks
// of the generations before have found: the corpus of their test. When a generation is done, a
// chunk for each test merges what it has found into the next corpus. The corpus is a part of a
// chunk's identity, so that what a chunk comes to is a function of it.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fermata/sim/cli/fleet/chunk_result.hpp"
#include "fermata/sim/cli/fleet/fleet_plan.hpp"

namespace fermata::sim::cli {

/// The names of inputs, in order.
using InputNames = std::vector<std::string>;

/// A chunk that is fuzzed, or that merges.
struct FuzzedChunk {
  fleet::ChunkId id;
  FleetChunk chunk;
  bool merges = false;
  InputNames inputs;  // To begin with, or to merge.
};

class FleetGenerations {
 public:
  /// What came of a chunk; nothing when it is not done. May suspend.
  using ResultOf = std::function<std::optional<ChunkResult>(fleet::ChunkId)>;

  /// `plan` must outlive this. At its first stage, the fuzzing of the first generation.
  FleetGenerations(const FleetPlan& plan, ResultOf result_of);

  /// What can be done at this stage, in any order.
  [[nodiscard]] const std::vector<FuzzedChunk>& stage() const noexcept { return stage_; }
  /// Goes to the next stage; returns false when there is none. Throws Error when a chunk of this
  /// one has no result.
  bool advance();

  /// The corpus of `test` that the last merge has left.
  [[nodiscard]] const InputNames& corpus(const std::string& test) const {
    return corpora_.at(test);
  }

  /// The number of chunks of all stages of `plan`.
  [[nodiscard]] static std::size_t count(const FleetPlan& plan);

 private:
  void fuzz();
  void merge();
  [[nodiscard]] InputNames found_by(const FuzzedChunk& chunk) const;

  const FleetPlan& plan_;
  ResultOf result_of_;
  std::map<std::string, InputNames> corpora_;  // By test.
  std::vector<FuzzedChunk> stage_;
  std::size_t next_ = 1;  // The first chunk of the plan that no stage has had; 0 is the canary.
  std::uint64_t generation_ = 0;
};

}  // namespace fermata::sim::cli
