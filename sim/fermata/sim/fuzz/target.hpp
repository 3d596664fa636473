// SPDX-License-Identifier: Apache-2.0
#pragma once

// One program run again and again with the decisions of a fuzzer's inputs. SIM_TEST and
// SIM_PROPERTY are fuzzed without this (FERMATA_FUZZ); it is for a fuzzer of one's own:
//
//   extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
//     static const fermata::sim::Program program = {.body = play};
//     static fermata::sim::FuzzTarget target(program);
//     if (target.run({data, size}).failure) std::abort();
//     return 0;
//   }
//
// with LLVMFuzzerCustomMutator on mutated() and LLVMFuzzerCustomCrossOver on crossed(). Any bytes
// are an input; see input.hpp. What libFuzzer learns beside the edges of the code is in
// extra_counters.hpp.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fermata/sim/fuzz/extra_counters.hpp"
#include "fermata/sim/fuzz/mutator.hpp"
#include "fermata/sim/run/runner.hpp"
#include "fermata/sim/strategy/bytes.hpp"

namespace fermata::sim {

class FuzzTarget {
 public:
  /// `program` must outlive this. While it lives what the thread prints, and what EXPECT and ASSERT
  /// find, belongs to its runs.
  explicit FuzzTarget(const Program& program, WorldOptions options = {});
  FuzzTarget(const FuzzTarget&) = delete;
  FuzzTarget& operator=(const FuzzTarget&) = delete;

  RunResult run(std::span<const std::uint8_t> bytes);

  /// The input of the last run.
  [[nodiscard]] const FuzzInput& input() const noexcept { return strategy_->input(); }
  /// The name of a strategy that repeats it, with input().seed.
  [[nodiscard]] std::string strategy() const { return strategy_->name(); }
  /// The draws that the last run has asked for.
  [[nodiscard]] std::span<const AskedDraw> asked() const noexcept { return strategy_->asked(); }
  /// What has made the runs.
  [[nodiscard]] const Runner& runner() const noexcept { return runner_; }

  /// A mutation of `bytes`, of at most `room` bytes. Equal for equal arguments and the same last
  /// run.
  [[nodiscard]] std::vector<std::uint8_t> mutated(std::span<const std::uint8_t> bytes,
                                                  std::size_t room, std::uint64_t seed) const;
  [[nodiscard]] std::vector<std::uint8_t> crossed(std::span<const std::uint8_t> one,
                                                  std::span<const std::uint8_t> other,
                                                  std::size_t room, std::uint64_t seed) const;

 private:
  FuzzTarget(const Program& program, WorldOptions options, std::unique_ptr<BytesStrategy> strategy);
  [[nodiscard]] MutationLimits limits(std::size_t room) const noexcept;

  ExtraCounters counters_;
  BytesStrategy* strategy_;  // The runner's.
  bool has_arguments_;
  Runner runner_;
};

}  // namespace fermata::sim
