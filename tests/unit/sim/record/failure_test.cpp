// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/record/failure.hpp"

#include <gtest/gtest.h>

namespace fermata::sim {
namespace {

TEST(Failure, HasASignatureWithoutNumbers) {
  const Failure failure{.verdict = Verdict::Safety,
                        .message = "balance 12 is not 2000\nsecond line"};
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

}  // namespace
}  // namespace fermata::sim
