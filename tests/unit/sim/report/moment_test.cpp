// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/moment.hpp"

#include <gtest/gtest.h>
#include <fermata/runtime.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "tests/support/events.hpp"
#include "tests/support/watched_run.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

class MomentTest : public ::testing::Test {
 protected:
  /// Coroutines run in three steps: at 0, 1 and 3 ms.
  static void wait_twice(World&) {
    delay(1ms);
    delay(2ms);
  }
  [[nodiscard]] std::string error_of(const Moment& moment) const {
    return test::thrown_by([&] { static_cast<void>(find_moment(*run_log_, moment)); });
  }

  std::shared_ptr<const RunLog> run_log_ = test::watched_run(&MomentTest::wait_twice).run_log;
  // Looking at the world outside is a step as well.
  std::uint64_t second_ = run_log_->steps().at(1).number;
  std::uint64_t last_ = run_log_->steps().at(2).number;
};

TEST_F(MomentTest, IsTheEndOfTheRunUnlessAskedOtherwise) {
  const MomentOfRun end = find_moment(*run_log_, {});
  EXPECT_EQ(end.text, "at the end of the run, +3 ms");
  EXPECT_TRUE(end.has_come(99, run_log_->end()));
}

TEST_F(MomentTest, MayBeTheEndOfAStep) {
  const MomentOfRun second = find_moment(*run_log_, {.step = second_});
  EXPECT_EQ(second.text, "after step " + std::to_string(second_) + ", +1 ms");
  EXPECT_TRUE(second.has_come(2, Instant{} + 1ms));
  EXPECT_FALSE(second.has_come(3, Instant{} + 1ms));
}

TEST_F(MomentTest, MayBeATime) {
  const MomentOfRun between = find_moment(*run_log_, {.time = Instant{} + 2ms});
  EXPECT_EQ(between.text, "at +2 ms");
  EXPECT_TRUE(between.has_come(3, Instant{} + 2ms));
  EXPECT_FALSE(between.has_come(1, Instant{} + 3ms));
}

TEST_F(MomentTest, IsInTheRun) {
  const std::string steps = "; expected one from 1 to " + std::to_string(last_);
  EXPECT_EQ(error_of({.step = 99}), "fermata::UsageError: there is no step 99" + steps);
  EXPECT_EQ(error_of({.step = 0}), "fermata::UsageError: there is no step 0" + steps);
  EXPECT_EQ(error_of({.time = Instant{} + 4ms}),
            "fermata::UsageError: there is no time +4 ms; the run ends at +3 ms");
}

}  // namespace
}  // namespace fermata::sim
