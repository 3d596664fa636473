// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fuzz/mutator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace fermata::sim {
namespace {

constexpr MutationLimits kLimits{.answers = 6, .seed = true};

std::vector<AskedDraw> asked_draws() {
  std::vector<AskedDraw> asked;
  for (std::uint32_t i = 0; i < 30; ++i)
    asked.push_back({backend::RandomStream::Schedule, 100 + i, 3});
  for (std::uint32_t i = 0; i < 5; ++i)
    asked.push_back({backend::RandomStream::Workload, 200 + i, 0});
  return asked;
}

bool is_asked(const std::vector<AskedDraw>& asked, const Answer& answer) {
  return std::any_of(asked.begin(), asked.end(), [&](const AskedDraw& draw) {
    return draw.stream == answer.stream && draw.key == answer.key;
  });
}

/// How many of what an input says of its streams differ.
std::size_t changed_streams(const FuzzInput& a, const FuzzInput& b) {
  std::size_t changed = 0;
  for (std::size_t i = 0; i < kStreams; ++i) {
    const auto stream = static_cast<backend::RandomStream>(i);
    const auto of_stream = [stream](const FuzzInput& input) {
      std::vector<Answer> answers;
      for (const Answer& answer : input.answers()) {
        if (answer.stream == stream) answers.push_back(answer);
      }
      return answers;
    };
    changed += a.noise(stream) != b.noise(stream) || of_stream(a) != of_stream(b);
  }
  return changed;
}

TEST(Mutator, WhatComesOutIsAnInputThatAnswersWhatIsAsked) {
  const std::vector<AskedDraw> asked = asked_draws();
  Random random(1);
  FuzzInput input;
  bool full = false;
  for (int i = 0; i < 20'000; ++i) {
    mutate(input, asked, kLimits, random);
    ASSERT_EQ(FuzzInput::decode(input.encode()), input);
    ASSERT_LE(input.answers().size(), kLimits.answers);
    full = full || input.answers().size() == kLimits.answers;
    for (const Answer& answer : input.answers()) {
      ASSERT_TRUE(is_asked(asked, answer));
      ASSERT_LT(answer.value, Answer::kValueBound);
    }
  }
  EXPECT_TRUE(full);
}

TEST(Mutator, NeedsNothingThatWasAsked) {
  Random random(2);
  FuzzInput input;
  for (int i = 0; i < 1'000; ++i) mutate(input, {}, kLimits, random);
  EXPECT_TRUE(input.answers().empty());
  EXPECT_NE(input, FuzzInput());
}

TEST(Mutator, MostlyLeavesStreamsAlone) {
  const std::vector<AskedDraw> asked = asked_draws();
  Random random(3);
  FuzzInput input;
  int of_one_stream = 0;
  constexpr int kRounds = 2'000;
  for (int i = 0; i < kRounds; ++i) {
    const FuzzInput before = input;
    mutate(input, asked, kLimits, random);
    of_one_stream += changed_streams(before, input) <= 1;
  }
  EXPECT_GT(of_one_stream, kRounds / 2);
}

TEST(Mutator, StartsAfreshNowAndThen) {
  const std::vector<AskedDraw> asked = asked_draws();
  Random random(7);
  int afresh = 0;
  constexpr int kRounds = 2'000;
  for (int i = 0; i < kRounds; ++i) {
    FuzzInput input;
    mutate(input, asked, kLimits, random);
    bool everywhere = true;
    for (std::size_t stream = 0; stream < kStreams; ++stream) {
      everywhere = everywhere && input.noise(static_cast<backend::RandomStream>(stream)).density ==
                                     Noise::kEverywhere;
    }
    afresh += everywhere;
  }
  EXPECT_GT(afresh, kRounds / 16);
  EXPECT_LT(afresh, kRounds / 4);
}

TEST(Mutator, LeavesTheSeedWhereItCountsForNothing) {
  const std::vector<AskedDraw> asked = asked_draws();
  Random random(4);
  FuzzInput without;
  FuzzInput with;
  for (int i = 0; i < 1'000; ++i) {
    mutate(without, asked, {.answers = 6, .seed = false}, random);
    mutate(with, asked, kLimits, random);
  }
  EXPECT_EQ(without.seed, 0u);
  EXPECT_NE(with.seed, 0u);
}

TEST(Mutator, DoesTheSameAgain) {
  const std::vector<AskedDraw> asked = asked_draws();
  FuzzInput once;
  FuzzInput again;
  Random random(5);
  Random same(5);
  for (int i = 0; i < 500; ++i) {
    mutate(once, asked, kLimits, random);
    mutate(again, asked, kLimits, same);
  }
  EXPECT_EQ(once, again);
}

TEST(CrossOver, TakesEachPartFromAParent) {
  const std::vector<AskedDraw> asked = asked_draws();
  Random random(6);
  FuzzInput one;
  FuzzInput other;
  for (int i = 0; i < 500; ++i) {
    mutate(one, asked, kLimits, random);
    mutate(other, asked, kLimits, random);
    const FuzzInput child = cross_over(one, other, kLimits, random);
    ASSERT_EQ(FuzzInput::decode(child.encode()), child);
    ASSERT_LE(child.answers().size(), kLimits.answers);
    ASSERT_TRUE(child.seed == one.seed || child.seed == other.seed);
    for (std::size_t stream = 0; stream < kStreams; ++stream) {
      const Noise& noise = child.noise(static_cast<backend::RandomStream>(stream));
      ASSERT_TRUE(noise == one.noise(static_cast<backend::RandomStream>(stream)) ||
                  noise == other.noise(static_cast<backend::RandomStream>(stream)));
    }
    for (const Answer& answer : child.answers()) {
      const Answer* const of_one = one.find(answer.stream, answer.key);
      const Answer* const of_other = other.find(answer.stream, answer.key);
      ASSERT_TRUE((of_one != nullptr && *of_one == answer) ||
                  (of_other != nullptr && *of_other == answer));
    }
  }
}

}  // namespace
}  // namespace fermata::sim
