// SPDX-License-Identifier: Apache-2.0

// What a program logs with spdlog is in the run log of a simulated run.

#include "fermata/core/spdlog_sink.hpp"

#include <gtest/gtest.h>
#include <spdlog/logger.h>
#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>

#include <memory>
#include <string>

#include "tests/support/watched_run.hpp"

namespace fermata::test {
namespace {

std::shared_ptr<spdlog::logger> make_logger() {
  return std::make_shared<spdlog::logger>("shop", std::make_shared<SpdlogSink>());
}

TEST(Spdlog, LogsIntoTheRunLog) {
  const WatchedRun run = watched_run([](sim::World&) {
    const auto logger = make_logger();
    auto clerk = spawn("clerk", [&] {
      const sim::AllowNondeterminism allowed;  // spdlog reads the clock.
      logger->warn("{} of {} left", 3, 4);
    });
    await(clerk);
  });
  EXPECT_FALSE(run.result.failure);
  const auto& lines = run.run_log->lines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].text, "shop: warning: 3 of 4 left");
  EXPECT_EQ(run.run_log->lanes()[lines[0].lane.value()].name, "clerk");
}

TEST(Spdlog, ReadsTheClockWhichTheGuardReports) {
  const WatchedRun run = watched_run([](sim::World&) { make_logger()->warn("low"); });
  ASSERT_TRUE(run.result.failure);
  EXPECT_EQ(run.result.failure->message, "simulated code calls clock_gettime");
}

}  // namespace
}  // namespace fermata::test
