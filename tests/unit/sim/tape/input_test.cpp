// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/tape/input.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fermata/sim/strategy/bytes.hpp"
#include "fermata/sim/strategy/make_strategy.hpp"

namespace fermata::sim {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes random_bytes(Random& random) {
  Bytes bytes(random.below(300));
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
  return bytes;
}

FuzzInput some_input() {
  FuzzInput input;
  input.seed = 0x123456789abcdef0;
  input.noise(backend::RandomStream::Schedule) = {0x4321, 160};
  input.noise(backend::RandomStream::Workload) = {7, Noise::kEverywhere};
  input.set({backend::RandomStream::Network, 0xdeadbeef, 5});
  input.set({backend::RandomStream::Schedule, 17, Answer::kValueBound - 1});
  return input;
}

/// What a run that asks the same few things of every stream is told.
std::vector<std::uint64_t> answers_of(const FuzzInput& input, backend::RandomStream stream,
                                      std::uint64_t first_key = 1) {
  BytesStrategy strategy(input);
  strategy.begin_run(input.seed);
  std::vector<std::uint64_t> answers;
  for (std::uint64_t i = 0; i < 50; ++i) {
    answers.push_back(strategy.draw(stream, key_of(first_key, i), 10));
    answers.push_back(strategy.draw(stream, key_of(first_key, i + 1'000), 0));
    answers.push_back(strategy.draw_rarely(stream, key_of(first_key, i + 2'000), 4, Odds{1, 2}));
  }
  return answers;
}

TEST(FuzzInput, ComesBackFromItsBytes) {
  const FuzzInput input = some_input();
  EXPECT_EQ(FuzzInput::decode(input.encode()), input);
  EXPECT_EQ(input.encode().size(), FuzzInput::kHeaderBytes + 2 * FuzzInput::kAnswerBytes);
  EXPECT_EQ(FuzzInput::answers_in(input.encode().size()), 2u);
  EXPECT_EQ(FuzzInput::answers_in(3), 0u);
}

TEST(FuzzInput, AnyBytesAreOne) {
  Random random(1);
  for (int i = 0; i < 2'000; ++i) {
    const FuzzInput input = FuzzInput::decode(random_bytes(random));
    EXPECT_EQ(FuzzInput::decode(input.encode()), input);
  }
}

TEST(FuzzInput, WhatIsMissingIsZero) {
  EXPECT_EQ(FuzzInput::decode({}), FuzzInput());
  Bytes bytes = some_input().encode();
  const Bytes all = bytes;
  bytes.resize(8);
  EXPECT_EQ(FuzzInput::decode(bytes).seed, some_input().seed);
  EXPECT_EQ(FuzzInput::decode(bytes).noise(backend::RandomStream::Schedule), Noise());
  bytes = all;
  bytes.push_back(0xff);  // Not a whole answer.
  EXPECT_EQ(FuzzInput::decode(bytes), some_input());
}

TEST(FuzzInput, TheFirstOfTwoAnswersCounts) {
  FuzzInput one;
  one.set({backend::RandomStream::Disk, 9, 1});
  FuzzInput other;
  other.set({backend::RandomStream::Disk, 9, 2});
  Bytes bytes = one.encode();
  const Bytes second = other.encode();
  bytes.insert(bytes.end(), second.begin() + FuzzInput::kHeaderBytes, second.end());
  EXPECT_EQ(FuzzInput::decode(bytes), one);
  one.set({backend::RandomStream::Disk, 9, 2});
  EXPECT_EQ(one, other);
}

TEST(FuzzInput, AnswersOfNoStreamCountForNothing) {
  Bytes bytes = some_input().encode();
  bytes.insert(bytes.end(), {kStreams, 1, 0, 0, 1, 0, 0, 0});
  EXPECT_EQ(FuzzInput::decode(bytes), some_input());
}

TEST(BytesStrategy, IsCalmWithoutBytes) {
  for (std::size_t i = 0; i < kStreams; ++i) {
    for (const std::uint64_t answer : answers_of({}, static_cast<backend::RandomStream>(i)))
      EXPECT_EQ(answer, 0u);
  }
  BytesStrategy strategy;
  strategy.begin_run(1);
  const std::vector<std::uint64_t> paths = {5, 6, 7};
  EXPECT_EQ(strategy.pick(Candidates(paths)), 0u);
}

TEST(BytesStrategy, OneStreamDoesNotShiftAnother) {
  const FuzzInput before = some_input();
  for (std::size_t changed = 0; changed < kStreams; ++changed) {
    FuzzInput after = before;
    after.noise(static_cast<backend::RandomStream>(changed)) = {99, 64};
    after.set({static_cast<backend::RandomStream>(changed), 1'234, 3});
    for (std::size_t other = 0; other < kStreams; ++other) {
      if (other == changed) continue;
      const auto stream = static_cast<backend::RandomStream>(other);
      EXPECT_EQ(answers_of(before, stream), answers_of(after, stream));
    }
  }
}

TEST(BytesStrategy, OneDrawDoesNotShiftAnother) {
  FuzzInput input;
  input.noise(backend::RandomStream::Time) = {3, Noise::kEverywhere};
  BytesStrategy strategy(input);
  strategy.begin_run(1);
  const std::uint64_t alone = strategy.draw(backend::RandomStream::Time, key_of("b"), 1'000'000);
  strategy.begin_run(1);
  static_cast<void>(strategy.draw(backend::RandomStream::Time, key_of("a"), 1'000'000));
  EXPECT_EQ(strategy.draw(backend::RandomStream::Time, key_of("b"), 1'000'000), alone);
}

TEST(BytesStrategy, AnswersDrawsByKey) {
  constexpr std::uint64_t kKey = key_of("a draw");
  FuzzInput input;
  input.noise(backend::RandomStream::Fault) = {1, Noise::kEverywhere};
  input.set({backend::RandomStream::Fault, static_cast<std::uint32_t>(kKey >> 32), 3});
  BytesStrategy strategy(input);
  strategy.begin_run(1);
  EXPECT_EQ(strategy.draw(backend::RandomStream::Fault, kKey, 10), 3u);
  EXPECT_EQ(strategy.draw(backend::RandomStream::Fault, kKey, 2), 1u);
  EXPECT_EQ(strategy.draw_rarely(backend::RandomStream::Fault, kKey, 10, Odds{1, 1'000'000}), 3u);
  EXPECT_EQ(strategy.draw(backend::RandomStream::Fault, kKey, std::uint64_t{1} << 40), 3u << 16);
  ASSERT_EQ(strategy.asked().size(), 4u);
  EXPECT_EQ(strategy.asked()[1].bound, 2u);
}

TEST(BytesStrategy, KeepsWithinBounds) {
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    BytesStrategy strategy(FuzzInput::decode(random_bytes(random)));
    strategy.begin_run(1);
    const std::vector<std::uint64_t> paths = {5, 6, 7};
    for (std::uint64_t key = 0; key < 50; ++key) {
      EXPECT_LT(strategy.pick(Candidates(paths)), 3u);
      EXPECT_LT(strategy.draw(backend::RandomStream::Time, mix(key), 7), 7u);
      EXPECT_LT(strategy.draw_rarely(backend::RandomStream::Network, mix(key), 2, Odds{1, 3}), 2u);
    }
  }
}

TEST(BytesStrategy, IsMadeAgainFromItsName) {
  const BytesStrategy strategy(some_input());
  const auto again = make_strategy(strategy.name());
  EXPECT_EQ(again->name(), strategy.name());
  EXPECT_EQ(make_strategy("bytes:")->name(), BytesStrategy().name());
  for (const char* name : {"bytes", "bytes:0", "bytes:0g", "bytes:00 ", "bytes00"}) {
    EXPECT_ANY_THROW(static_cast<void>(make_strategy(name))) << name;
  }
}

}  // namespace
}  // namespace fermata::sim
