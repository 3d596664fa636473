// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/distinct_runs.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "fermata/sim/base/key.hpp"

namespace fermata::sim {
namespace {

TEST(DistinctRuns, CountsEachHashOnce) {
  DistinctRuns seen;
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t i = 0; i < 5'000; ++i) seen.add(key_of(1, i));
  }
  EXPECT_EQ(seen.kinds(), 5'000u);
  EXPECT_EQ(seen.once(), 0u);
}

TEST(DistinctRuns, KnowsWhatWasSeenOnce) {
  DistinctRuns seen;
  for (std::uint64_t i = 0; i < 100; ++i) seen.add(key_of(1, i));
  for (std::uint64_t i = 0; i < 30; ++i) seen.add(key_of(1, i));
  EXPECT_EQ(seen.kinds(), 100u);
  EXPECT_EQ(seen.once(), 70u);
}

TEST(DistinctRuns, OfTheSmallestHashesAreCountedToo) {
  DistinctRuns seen;
  for (const std::uint64_t hash : {0u, 1u, 0u}) seen.add(hash);
  EXPECT_EQ(seen.kinds(), 1u) << "the lowest bit is not kept";
  EXPECT_EQ(seen.once(), 0u);
}

TEST(DistinctRuns, OfPartsAreThoseOfTheWhole) {
  DistinctRuns whole;
  DistinctRuns parts[3];
  for (std::uint64_t i = 0; i < 3'000; ++i) {
    const std::uint64_t hash = key_of(2, i % 1'700);
    whole.add(hash);
    parts[i % 3].add(hash);
  }
  DistinctRuns merged = parts[2];
  merged.add(parts[0]);
  merged.add(parts[1]);
  EXPECT_EQ(merged.entries(), whole.entries());
  EXPECT_EQ(merged.once(), whole.once());
}

TEST(DistinctRuns, AreKeptAndRestored) {
  DistinctRuns seen;
  for (std::uint64_t i = 0; i < 500; ++i) seen.add(key_of(3, i % 400));
  const DistinctRuns again = DistinctRuns::restore(seen.level(), seen.entries());
  EXPECT_EQ(again.entries(), seen.entries());
  EXPECT_EQ(again.kinds(), 400u);
  EXPECT_EQ(again.once(), 300u);
}

TEST(DistinctRuns, AreEstimatedWhenThereAreTooManyToKeep) {
  constexpr std::uint64_t kMany = 5 * DistinctRuns::kMost;
  DistinctRuns forward;
  DistinctRuns backward;
  for (std::uint64_t i = 0; i < kMany; ++i) {
    forward.add(key_of(4, i));
    backward.add(key_of(4, kMany - 1 - i));
  }
  EXPECT_GT(forward.level(), 0u);
  EXPECT_LE(forward.entries().size(), DistinctRuns::kMost);
  EXPECT_EQ(forward.entries(), backward.entries()) << "whatever the order";
  EXPECT_NEAR(static_cast<double>(forward.kinds()), static_cast<double>(kMany), kMany / 50.0);
  EXPECT_EQ(forward.once(), forward.kinds());
}

}  // namespace
}  // namespace fermata::sim
