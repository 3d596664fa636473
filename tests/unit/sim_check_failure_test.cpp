// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/check/failure.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "fermata/sim/check/trace_hash.hpp"

namespace fermata::sim {
namespace {

TEST(Failure, HasASignatureWithoutNumbers) {
  const Failure failure{Verdict::Safety, "balance 12 is not 2000\nsecond line", "a", {}, 3, {}};
  EXPECT_EQ(failure.signature(), "safety: balance # is not #");
}

TEST(Failure, ExitCodesAreThoseOfTheTool) {
  EXPECT_EQ(exit_code(Verdict::Safety), 2);
  EXPECT_EQ(exit_code(Verdict::Liveness), 3);
  EXPECT_EQ(exit_code(Verdict::Deadlock), 4);
  EXPECT_EQ(exit_code(Verdict::Nondeterminism), 5);
  EXPECT_EQ(exit_code(Verdict::Leak), 6);
  EXPECT_EQ(exit_code(Verdict::Divergence), 8);
  EXPECT_TRUE(outweighs(Verdict::Nondeterminism, Verdict::Safety));
  EXPECT_TRUE(outweighs(Verdict::Safety, Verdict::Deadlock));
  EXPECT_TRUE(outweighs(Verdict::Deadlock, Verdict::Liveness));
  EXPECT_TRUE(outweighs(Verdict::Liveness, Verdict::Leak));
  EXPECT_FALSE(outweighs(Verdict::Leak, Verdict::Leak));
}

TEST(TraceHash, DependsOnEverythingAndOnTheOrder) {
  const auto hash = [](std::vector<std::array<std::uint64_t, 3>> items) {
    detail::TraceHash trace;
    for (const auto& item : items) trace.add(item[0], item[1], item[2]);
    return trace.value();
  };
  const std::uint64_t base = hash({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(hash({{1, 2, 3}, {4, 5, 6}}), base);
  EXPECT_NE(hash({{4, 5, 6}, {1, 2, 3}}), base);
  EXPECT_NE(hash({{2, 2, 3}, {4, 5, 6}}), base);
  EXPECT_NE(hash({{1, 3, 3}, {4, 5, 6}}), base);
  EXPECT_NE(hash({{1, 2, 4}, {4, 5, 6}}), base);
  EXPECT_NE(hash({{1, 2, 3}}), base);
}

}  // namespace
}  // namespace fermata::sim
