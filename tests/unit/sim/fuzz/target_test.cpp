// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fuzz/target.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "fermata/runtime.hpp"
#include "fermata/sim/run/explore.hpp"

namespace fermata::sim {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Two coroutines in an order that is drawn, one of which wakes the other; and a number.
struct Pair {
  bool second_first = false;
  std::uint64_t number = 0;

  Program program() {
    Program program;
    program.body = [this](World& world) {
      int order = 0;
      const auto first = spawn("first", [&] { order = order * 10 + 1; });
      const auto second = spawn("second", [&] { order = order * 10 + 2; });
      await(first);
      await(second);
      second_first = order == 21;
      number = random(100);
      FERMATA_SOMETIMES_GE(number, 90u, "the number is large");
      if (second_first && number == 42) world.fail(Verdict::Safety, "the planted one");
    };
    return program;
  }
};

std::vector<std::uint8_t> counted(std::span<const std::uint8_t> table) {
  return {table.begin(), table.end()};
}

/// Fuzzes without anybody to learn, until `wanted` or for so many runs.
template <class Wanted>
Bytes mutate_until(FuzzTarget& target, Wanted wanted, int runs = 20'000) {
  Bytes bytes;
  for (int i = 0; i < runs; ++i) {
    const RunResult result = target.run(bytes);
    if (wanted(result)) return bytes;
    bytes = target.mutated(bytes, 200, static_cast<std::uint64_t>(i));
  }
  ADD_FAILURE() << "not in " << runs << " runs";
  return {};
}

TEST(FuzzTarget, NoBytesAreTheCalmRun) {
  Pair pair;
  const Program program = pair.program();
  FuzzTarget target(program);
  EXPECT_FALSE(target.run({}).failure);
  EXPECT_FALSE(pair.second_first);
  EXPECT_EQ(pair.number, 0u);
  EXPECT_FALSE(target.asked().empty());
}

TEST(FuzzTarget, TheSameBytesAreTheSameRun) {
  Pair pair;
  const Program program = pair.program();
  FuzzTarget target(program);
  Bytes bytes;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const RunResult once = target.run(bytes);
    static_cast<void>(target.run({}));
    EXPECT_TRUE(target.run(bytes).same_run(once));
    EXPECT_EQ(target.mutated(bytes, 200, i), target.mutated(bytes, 200, i));
    bytes = target.mutated(bytes, 200, i);
    EXPECT_LE(bytes.size(), 200u);
  }
}

TEST(FuzzTarget, AFailureIsExploredAgainByItsStrategy) {
  Pair pair;
  const Program program = pair.program();
  FuzzTarget target(program);
  mutate_until(target, [](const RunResult& result) { return result.failure.has_value(); });
  ExploreOptions options;
  options.runs = 1;
  options.seed = target.input().seed;
  options.strategy = target.strategy();
  const ExploreResult result = explore(options, program);
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->failure.message, "the planted one");
  EXPECT_EQ(result.found->tape.strategy, options.strategy);
  EXPECT_TRUE(replay_closely(program, {}, result.found->tape));
}

TEST(FuzzTarget, CrossedInputsHaveRoom) {
  Pair pair;
  const Program program = pair.program();
  FuzzTarget target(program);
  static_cast<void>(target.run({}));
  Bytes one;
  Bytes other;
  for (std::uint64_t i = 0; i < 200; ++i) {
    one = target.mutated(one, 100, i);
    other = target.mutated(other, 100, i + 1'000);
    EXPECT_LE(target.crossed(one, other, 60, i).size(), 60u);
    EXPECT_LE(target.crossed(one, other, 5, i).size(), 5u);
  }
}

TEST(ExtraCounters, ShowWhoWokeWhom) {
  Pair pair;
  const Program program = pair.program();
  FuzzTarget target(program);
  static_cast<void>(target.run({}));
  const auto calm = counted(ExtraCounters::tables().wakes);
  EXPECT_NE(calm, std::vector<std::uint8_t>(calm.size(), 0));
  static_cast<void>(target.run({}));
  EXPECT_EQ(counted(ExtraCounters::tables().wakes), calm);
  mutate_until(target, [&](const RunResult&) { return pair.second_first; });
  EXPECT_NE(counted(ExtraCounters::tables().wakes), calm);
}

TEST(ExtraCounters, ShowWhatHeldAndWhatCameNearer) {
  Pair pair;
  const Program program = pair.program();
  FuzzTarget target(program);
  const auto sum = [](std::span<const std::uint8_t> table) {
    int all = 0;
    for (const std::uint8_t counter : table) all += counter;
    return all;
  };
  static_cast<void>(target.run({}));
  EXPECT_EQ(sum(ExtraCounters::tables().marks), 1) << "come to, but does not hold";
  EXPECT_GT(sum(ExtraCounters::tables().bests), 0);
  static_cast<void>(target.run({}));
  EXPECT_EQ(sum(ExtraCounters::tables().bests), 0) << "no nearer than the run before";
  mutate_until(target, [&](const RunResult&) { return pair.number >= 90; });
  EXPECT_EQ(sum(ExtraCounters::tables().marks), 2) << "come to, and holds";
}

}  // namespace
}  // namespace fermata::sim
