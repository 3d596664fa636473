// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/step_table.hpp"

#include <gtest/gtest.h>
#include <fermata/runtime.hpp>

#include <algorithm>
#include <string>

#include "tests/support/watched_run.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::watched_run;

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

bool says(const std::string& text, std::string_view wanted) {
  return text.find(wanted) != std::string::npos;
}

/// Two coroutines that take turns by a channel while sixty others come and go, and then fail.
void fail_among_many(World&) {
  Channel<int> channel("line", 1);
  Scope crowd("crowd");
  for (int i = 0; i < 60; ++i) crowd.spawn("stranger", [] { delay(1ms); });
  auto sends = spawn("sends", [&] {
    delay(5ms);
    channel.send(1);
  });
  auto receives = spawn("receives", [&] {
    static_cast<void>(channel.recv());
    throw Error("as planned");
  });
  await(receives);
}

TEST(StepTable, ShowsTheWayToTheFailureAndNotTheCrowd) {
  const auto run = watched_run(fail_among_many);
  const std::string table = step_table(*run.run_log, {}, {.lines = 12});
  EXPECT_TRUE(says(table, "fails: fermata::Error: as planned")) << table;
  EXPECT_TRUE(says(table, "wakes 'receives'")) << table;
  EXPECT_FALSE(says(table, "'stranger'\n")) << table;
  EXPECT_LT(lines_of(table), 26u) << table;
}

TEST(StepTable, ShowsMessagesBeforeWaitsWhenThereIsNoRoomForBoth) {
  const auto run = watched_run(test::greet);
  const std::string table = step_table(*run.run_log, {}, {.lines = 8});
  EXPECT_TRUE(says(table, "sends \"hello\" to 'server'")) << table;
  EXPECT_TRUE(says(table, "receives \"hello\" from 'main'")) << table;
  EXPECT_TRUE(says(table, "receives \"welcome\" from 'server'")) << table;
  EXPECT_FALSE(says(table, "waits for accept")) << table;
  EXPECT_LE(lines_of(table), 9u) << table;  // One is the heading.
}

TEST(StepTable, CountsTheLinesForWhatItLeavesOut) {
  const auto run = watched_run(fail_among_many);
  for (const std::size_t lines : {6u, 9u, 14u}) {
    const std::string table = step_table(*run.run_log, {}, {.lines = lines});
    EXPECT_LE(lines_of(table), lines + 1) << table;
  }
}

TEST(StepTable, HasSpaceBetweenTheHeadsOfColumns) {
  const auto run = watched_run([](World&) {
    const std::string name = "a coroutine with a long name";
    auto first = spawn(name, [] { delay(1ms); });
    auto second = spawn(name, [] { delay(2ms); });
    await(first);
    await(second);
  });
  const std::string table = step_table(*run.run_log, {}, {.lines = kAllLines});
  EXPECT_TRUE(says(table, "'a coroutine with a long name' ")) << table;
  EXPECT_FALSE(says(table, "''")) << table;
}

TEST(StepTable, ShowsEveryStepWhenAsked) {
  const auto run = watched_run(fail_among_many);
  const std::string table = step_table(*run.run_log, {}, {.lines = kAllLines});
  EXPECT_FALSE(says(table, " steps\n")) << table;
  EXPECT_GT(lines_of(table), 120u);
}

TEST(StepTable, MarksTheStepThatFailsAndShowsNothingAfterIt) {
  const auto run = watched_run([](World&) {
    spawn("first", [] {});
    suspend();
    suspend();
  });
  const std::string table = step_table(*run.run_log, {}, {.to = 2, .failure = "as planned"});
  EXPECT_TRUE(says(table, "ends   <== the run fails")) << table;
  EXPECT_EQ(lines_of(table), 4u) << table;
}

TEST(StepTable, ShowsWhatTheTestDoesToMachines) {
  const auto run = watched_run([](World& world) {
    Node& server = world.node("server", [] { delay(5ms); });
    world.link("main", "server").cut();
    delay(1ms);
    server.crash();
    server.restart();
    world.run();
  });
  const std::string table = step_table(*run.run_log, {});
  EXPECT_TRUE(says(table, "* main <-> server: cut\n")) << table;
  EXPECT_TRUE(says(table, "* machine 'server' crashes")) << table;
  EXPECT_TRUE(says(table, "* machine 'server' comes up again\n")) << table;
}

TEST(StepTable, HasTimesThatNeverRunBackwards) {
  const auto run = watched_run([](World& world) {
    world.node("slow", [] {
      consume(5ms);
      suspend();
    });
    world.node("quick", [] {
      for (int i = 0; i < 4; ++i) delay(1ms);
    });
    world.run();
  });
  const std::string table =
      step_table(*run.run_log, {}, {.lines = kAllLines});  // It asserts that itself.
  EXPECT_LT(table.find("+1 ms"), table.find("+5 ms")) << table;
}

TEST(StepTable, SaysWhatAWrongClockShows) {
  const auto run = watched_run([](World& world) {
    Node& wrong = world.node("wrong", [] { delay(10ms); });
    wrong.set_clock_drift(100'000);
    world.run();
  });
  const std::string table = step_table(*run.run_log, {}, {.lines = kAllLines});
  EXPECT_TRUE(says(table, "(its clock shows +10.")) << table;
}

TEST(StepTable, ShowsTheLastStepWhenNobodyWaits) {
  const auto run = watched_run([](World&) { suspend(); });
  EXPECT_TRUE(says(step_table(*run.run_log, {}, {.blocked = true}), "ends"));
}

TEST(StepTable, ExplainsAllWaitsOfADeadlock) {
  const auto run = watched_run([](World&) {
    Mutex a("a");
    Mutex b("b");
    auto one = spawn("one", [&] {
      const Mutex::Guard first(a);
      suspend();
      b.lock();
    });
    auto two = spawn("two", [&] {
      const Mutex::Guard first(b);
      suspend();
      a.lock();
    });
    await(one);
    await(two);
  });
  const std::string table = step_table(*run.run_log, {}, {.blocked = true});
  EXPECT_TRUE(says(table, "waits for Mutex 'a'")) << table;
  EXPECT_TRUE(says(table, "waits for Mutex 'b'")) << table;
  EXPECT_TRUE(says(table, "waits for 'one'")) << table;
}

}  // namespace
}  // namespace fermata::sim
