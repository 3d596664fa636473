// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "fermata/runtime/base/error.hpp"
#include "fermata/sim/strategy/strategy.hpp"

namespace fermata::sim {
namespace {

constexpr std::array<std::uint64_t, 3> kThree = {10, 20, 30};

std::string refusal(std::string_view name) {
  try {
    static_cast<void>(make_strategy(name));
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

std::vector<std::size_t> picks(Strategy& strategy, std::uint64_t seed, int count) {
  std::vector<std::size_t> result;
  strategy.begin_run(seed);
  for (int i = 0; i < count; ++i) result.push_back(strategy.pick(Candidates(kThree)));
  strategy.end_run(static_cast<std::uint64_t>(count));
  return result;
}

TEST(Strategies, AreMadeByTheirNames) {
  for (const char* name : {"fifo", "random", "calm", "pct:1", "pct:3", "pct:64", "pct:3:k=57"}) {
    EXPECT_EQ(make_strategy(name)->name(), name);
  }
}

TEST(Strategies, RefuseOtherNames) {
  EXPECT_EQ(refusal("pct:0"),
            "'pct:0' is no strategy; expected fifo, random, calm, or pct:D with D from 1 to 64");
  for (const char* name : {"", "rand", "Random", "pct", "pct:", "pct:x", "pct:-1", "pct:3x",
                           "pct:65", "pct:3:57", "pct:3:k=", "pct:3:k=0", "pct:3:k=5x", "urw"}) {
    EXPECT_NE(refusal(name), "accepted") << name;
  }
}

TEST(Strategies, DependOnTheSeedAlone) {
  for (const char* name : {"fifo", "random", "calm", "pct:3:k=40"}) {
    const auto one = make_strategy(name);
    const auto other = make_strategy(name);
    picks(*one, 1, 30);
    EXPECT_EQ(picks(*one, 2, 40), picks(*other, 2, 40)) << name;
  }
}

TEST(Fifo, KeepsTheOrderAndVariesTheWorld) {
  const auto fifo = make_strategy("fifo");
  EXPECT_EQ(picks(*fifo, 3, 10), std::vector<std::size_t>(10, 0));
  std::set<std::uint64_t> latencies;
  for (int i = 0; i < 100; ++i) latencies.insert(fifo->draw(Stream::Network, 1, 1'000'000));
  EXPECT_GT(latencies.size(), 90u);
}

TEST(Calm, VariesNothing) {
  const auto calm = make_strategy("calm");
  EXPECT_EQ(picks(*calm, 3, 10), std::vector<std::size_t>(10, 0));
  EXPECT_EQ(calm->draw(Stream::Network, 1, 1'000'000), 0u);
  EXPECT_EQ(calm->draw_rarely(Stream::Fault, 1, 2, Odds{1, 1}), 0u);
}

TEST(RandomStrategy, PicksEachCandidateAboutEquallyOften) {
  const auto random = make_strategy("random");
  std::array<int, 3> counts{};
  for (const std::size_t index : picks(*random, 9, 30'000)) ++counts[index];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 400);
}

TEST(RandomStrategy, DrawsRarelyWithTheOdds) {
  const auto random = make_strategy("random");
  random->begin_run(4);
  int happened = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t value = random->draw_rarely(Stream::Fault, 1, 5, Odds{1, 10});
    EXPECT_LT(value, 5u);
    happened += value != 0;
  }
  EXPECT_NEAR(happened, 10'000, 400);
}

TEST(Pct, KeepsOneOrderOfPrioritiesAtDepthOne) {
  const auto pct = make_strategy("pct:1");
  std::set<std::size_t> first;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::vector<std::size_t> chosen = picks(*pct, seed, 50);
    EXPECT_EQ(chosen, std::vector<std::size_t>(50, chosen.front()));
    first.insert(chosen.front());
  }
  EXPECT_EQ(first.size(), 3u);
}

TEST(Pct, ChangesAsOftenAsItsDepthSays) {
  const auto pct = make_strategy("pct:3:k=50");
  int changed_twice = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::vector<std::size_t> chosen = picks(*pct, seed, 50);
    int changes = 0;
    for (std::size_t i = 1; i < chosen.size(); ++i) changes += chosen[i] != chosen[i - 1];
    EXPECT_LE(changes, 2);
    changed_twice += changes == 2;
  }
  EXPECT_GT(changed_twice, 100);
}

TEST(Pct, LearnsHowLongRunsAre) {
  const auto pct = make_strategy("pct:2");
  picks(*pct, 1, 7);
  EXPECT_EQ(pct->name(), "pct:2:k=7");
  picks(*pct, 2, 5);
  EXPECT_EQ(pct->name(), "pct:2:k=7");
  picks(*pct, 3, 9);
  EXPECT_EQ(pct->name(), "pct:2:k=9");
}

TEST(Pct, LetsEverybodyRunInTheEnd) {
  const auto pct = make_strategy("pct:1:k=1");
  const std::vector<std::size_t> chosen = picks(*pct, 1, 2'000);
  EXPECT_EQ(std::set<std::size_t>(chosen.begin(), chosen.end()).size(), 3u);
}

// Ten coroutines of ten steps each; the bug needs the last one to run to its end before any other
// one has begun. Random must win a race of 10 against 90 picks at odds near 10^-10; PCT needs the
// victim to have the highest priority: 1 in 10.
TEST(Pct, FindsWhatRandomMisses) {
  const auto found = [](Strategy& strategy) {
    int hits = 0;
    for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
      std::vector<std::uint64_t> ready = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
      strategy.begin_run(seed);
      int run_alone = 0;
      while (run_alone < 10 && ready[strategy.pick(Candidates(ready))] == 10) ++run_alone;
      hits += run_alone == 10;
    }
    return hits;
  };
  EXPECT_EQ(found(*make_strategy("random")), 0);
  EXPECT_NEAR(found(*make_strategy("pct:1")), 100, 40);
}

}  // namespace
}  // namespace fermata::sim
