// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/record/run_log.hpp"

#include <gtest/gtest.h>
#include <fermata/runtime.hpp>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>

#include "fermata/sim/report/step_table.hpp"
#include "tests/support/watched_run.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

std::string table_of(const test::Body& body) {
  const test::WatchedRun run = test::watched_run(body);
  return step_table(*run.run_log, run.report.runs.front().names);
}

/// The lines of `table` that have a "|", without times and columns.
std::string printed_in(const std::string& table) {
  std::string found;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t bar = line.find('|');
    if (bar != std::string::npos) found += line.substr(bar) + '\n';
  }
  return found;
}

TEST(PrintedLines, AreInTheTableAmongWhatTheStepDoes) {
  const std::string table = table_of([](World&) {
    FERMATA_LOG("one");
    auto child = spawn("child", [] { std::cout << "two" << std::endl; });
    FERMATA_LOG("three");
    await(child);
  });
  const std::size_t one = table.find("| one\n");
  const std::size_t spawns = table.find("spawns 'child'");
  const std::size_t three = table.find("| three\n");
  const std::size_t waits = table.find("waits ");
  const std::size_t two = table.find("| two\n");
  EXPECT_LT(one, spawns) << table;
  EXPECT_LT(spawns, three) << table;
  EXPECT_LT(three, waits) << table;
  EXPECT_LT(waits, two) << table;
  EXPECT_NE(two, std::string::npos) << table;
}

TEST(PrintedLines, StandBetweenStepsWhenNoCoroutinePrintsThem) {
  const std::string table = table_of([](World& world) {
    world.at(1ms, [] { std::printf("an action\n"); });
    delay(2ms);
    std::printf("afterwards\n");
  });
  EXPECT_NE(table.find("+1 ms            | an action\n"), std::string::npos) << table;
  EXPECT_EQ(printed_in(table), "| an action\n| afterwards\n");
}

TEST(PrintedLines, AreNotShownOfStepsThatAreElided) {
  const std::string table = table_of([](World&) {
    for (int i = 0; i < 100; ++i) {
      FERMATA_LOG("step ", i);
      suspend();
    }
  });
  EXPECT_EQ(table.find("| step 10\n"), std::string::npos) << table;
  EXPECT_NE(table.find("| step 99\n"), std::string::npos) << table;
}

}  // namespace
}  // namespace fermata::sim
