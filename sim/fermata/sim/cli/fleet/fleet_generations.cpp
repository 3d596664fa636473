// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/fleet/fleet_generations.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/key.hpp"

namespace fermata::sim::cli {
namespace {

std::uint64_t key_of_inputs(const InputNames& inputs) {
  std::uint64_t key = inputs.size();
  for (const std::string& name : inputs) key = key_of(key, name);
  return key;
}

/// The generation of the chunk number `number` of a test. The sizes of chunks double from one
/// generation to the next, and then many have the largest size.
std::uint64_t generation_of(std::uint64_t number) {
  constexpr std::uint64_t kSmall = 4;  // Chunks of each size, see chunk().
  constexpr std::uint64_t kSizes = 8;
  constexpr std::uint64_t kLarge = 32;
  if (number < kSmall * kSizes) return number / kSmall;
  return kSizes + (number - kSmall * kSizes) / kLarge;
}

}  // namespace

FleetGenerations::FleetGenerations(const FleetPlan& plan, ResultOf result_of)
    : plan_(plan), result_of_(std::move(result_of)), corpora_(plan.terms().seeds) {
  FERMATA_ASSERT(plan.fuzzes());
  for (const std::string& test : plan.exploration().tests) corpora_.try_emplace(test);
  fuzz();
}

bool FleetGenerations::advance() {
  FERMATA_ASSERT(!stage_.empty());
  if (!stage_.front().merges) {
    merge();
    return true;
  }
  for (const FuzzedChunk& chunk : stage_) corpora_[chunk.chunk.test] = found_by(chunk);
  if (next_ == plan_.size()) return false;
  ++generation_;
  fuzz();
  return true;
}

void FleetGenerations::fuzz() {
  stage_.clear();
  for (; next_ < plan_.size(); ++next_) {
    const FleetChunk chunk = plan_.chunk(next_);
    if (generation_of(chunk.number) != generation_) break;
    const InputNames& corpus = corpora_.at(chunk.test);
    const std::uint64_t id = key_of(plan_.id(next_).value, key_of_inputs(corpus));
    stage_.push_back({{id}, chunk, false, corpus});
  }
  FERMATA_ASSERT(!stage_.empty());
}

void FleetGenerations::merge() {
  std::map<std::string, std::set<std::string>> inputs;
  for (const auto& [test, corpus] : corpora_) inputs[test].insert(corpus.begin(), corpus.end());
  for (const FuzzedChunk& chunk : stage_) {
    for (std::string& name : found_by(chunk)) inputs[chunk.chunk.test].insert(std::move(name));
  }
  FERMATA_ASSERT(inputs.size() == plan_.exploration().tests.size());
  stage_.clear();
  for (const std::string& test : plan_.exploration().tests) {
    FleetChunk chunk{test, generation_, {}, false};
    InputNames names(inputs.at(test).begin(), inputs.at(test).end());
    const std::uint64_t id =
        key_of(key_of(plan_.identity(), "merge " + test), key_of_inputs(names));
    stage_.push_back({{key_of(id, generation_)}, std::move(chunk), true, std::move(names)});
  }
}

InputNames FleetGenerations::found_by(const FuzzedChunk& chunk) const {
  std::optional<ChunkResult> result = result_of_(chunk.id);
  if (!result) throw Error(fmt::format("the chunk {} has no result", chunk.id.text()));
  return std::move(result->inputs);
}

std::size_t FleetGenerations::count(const FleetPlan& plan) {
  FERMATA_ASSERT(plan.fuzzes());
  const std::size_t tests = plan.exploration().tests.size();
  const std::uint64_t last = plan.chunk(plan.size() - 1).number;
  return plan.size() + tests * (generation_of(last) + 1);
}

}  // namespace fermata::sim::cli
