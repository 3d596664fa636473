// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/machine/fault.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/tape/decisions.hpp"

namespace fermata::sim {
namespace {

TEST(FaultSet, ReadsNames) {
  EXPECT_EQ(FaultSet::parse("all"), FaultSet::all());
  EXPECT_EQ(FaultSet::parse("none"), FaultSet::none());
  FaultSet expected = FaultSet::none();
  expected.add(Fault::Reset);
  expected.add(Fault::ShortWrite);
  EXPECT_EQ(FaultSet::parse("short-write,reset"), expected);
  expected = FaultSet::all();
  expected.remove(Fault::Busy);
  EXPECT_EQ(FaultSet::parse("all,-busy"), expected);
}

TEST(FaultSet, ReadsBackEveryName) {
  for (std::size_t i = 0; i < kFaultCount; ++i) {
    const auto fault = static_cast<Fault>(i);
    EXPECT_TRUE(FaultSet::parse(to_string(fault)).has(fault)) << to_string(fault);
  }
}

TEST(FaultSet, EveryNameIsInTheGuide) {
  std::ifstream page(FERMATA_SOURCE_DIR "/docs/guide/testing.md");
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  for (std::size_t i = 0; i < kFaultCount; ++i) {
    const std::string name = to_string(static_cast<Fault>(i));
    EXPECT_NE(text.find("`" + name + "`"), std::string::npos) << name;
  }
}

TEST(FaultSet, RefusesWhatItDoesNotKnow) {
  try {
    static_cast<void>(FaultSet::parse("reset,lightning"));
    ADD_FAILURE() << "accepted";
  } catch (const UsageError& error) {
    std::string expected = "faults 'lightning': expected all, none or some of ";
    for (std::size_t i = 0; i < kFaultCount; ++i) {
      expected += std::string(i > 0 ? "," : "") + to_string(static_cast<Fault>(i));
    }
    EXPECT_EQ(error.what(), expected);
  }
}

TEST(FaultSet, SuggestsTheNearestName) {
  try {
    static_cast<void>(FaultSet::parse("all,-datagram-los"));
    ADD_FAILURE() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_TRUE(std::string(error.what()).ends_with("; did you mean datagram-loss?"))
        << error.what();
  }
}

constexpr auto kTell = [](const Decision&) { return "a message is delayed"; };

class FaultPlanTest : public ::testing::Test {
 protected:
  /// How often `fault` strikes in 100 places of the run of `seed`.
  std::uint64_t strikes(std::uint64_t seed, FaultSet allowed, Fault fault = Fault::Delay) {
    decisions_.begin(seed);
    plan_.begin(allowed);
    for (std::uint64_t place = 0; place < 100; ++place) {
      plan_.strikes(fault, backend::RandomStream::Network, place, kTell);
    }
    return plan_.counts()[static_cast<std::size_t>(fault)];
  }

  std::unique_ptr<Strategy> strategy_ = make_strategy("random");
  Decisions decisions_{*strategy_};
  detail::FaultPlan plan_{decisions_};
};

TEST_F(FaultPlanTest, SomeRunsHaveAKindAndSomeHaveNot) {
  int absent = 0;
  int frequent = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::uint64_t count = strikes(seed, FaultSet::all());
    absent += count == 0 ? 1 : 0;
    frequent += count > 30 ? 1 : 0;
  }
  EXPECT_GT(absent, 60);
  EXPECT_GT(frequent, 10);
}

TEST_F(FaultPlanTest, NeverStrikesWithAKindThatIsNotAllowed) {
  FaultSet others = FaultSet::all();
  others.remove(Fault::Reset);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(strikes(seed, others, Fault::Reset), 0u);
  }
}

TEST_F(FaultPlanTest, IsQuietOnceStopped) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::uint64_t before = strikes(seed, FaultSet::all());
    plan_.stop();
    for (std::uint64_t place = 0; place < 100; ++place) {
      EXPECT_FALSE(plan_.strikes(Fault::Delay, backend::RandomStream::Network, place, kTell));
    }
    EXPECT_EQ(plan_.counts()[static_cast<std::size_t>(Fault::Delay)], before);
  }
}

}  // namespace
}  // namespace fermata::sim
