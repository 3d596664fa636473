// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/record/run_log.hpp"

#include <gtest/gtest.h>
#include <fermata/io/thread.hpp>
#include <fermata/runtime.hpp>

#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fermata/sim/report/step_table.hpp"
#include "fermata/sim/run/runner.hpp"
#include "tests/support/watched_run.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using Ending = RunLog::Ending;

std::shared_ptr<const RunLog> chronicle_of(std::function<void(World& world)> body,
                                           std::vector<Decision> decisions = {}) {
  Program program;
  program.body = std::move(body);
  Runner runner(program, "calm", WorldOptions{});
  runner.set_recording(true);
  Replay replay(std::move(decisions), 0, {}, ReplayMode::Best);
  runner.replay(Preparation{}, replay);
  return runner.run_log();
}

/// The step of the failure, and the last one that the run log has.
struct LastSteps {
  std::uint64_t failure = 0;
  std::uint64_t run_log = 0;
};

LastSteps last_steps_of(std::function<void(World& world)> body, WorldOptions options = {}) {
  const test::WatchedRun run = test::watched_run(std::move(body), options);
  if (!run.result.failure) throw Error("expected a failure");
  return {run.result.failure->step, run.run_log->steps().back().number};
}

const RunLog::Step& last_step_of(const RunLog& run_log, const std::string& name) {
  const RunLog::Step* found = nullptr;
  for (const RunLog::Step& step : run_log.steps()) {
    if (run_log.lanes()[step.lane].name == name) found = &step;
  }
  if (found == nullptr) throw Error("no step of " + name);
  return *found;
}

TEST(RunLog, EndsWithTheStepThatTheFailureNames) {
  using Body = std::function<void(World & world)>;
  const auto yield = [] {
    for (int i = 0; i < 5; ++i) suspend();
  };
  const std::vector<std::pair<const char*, Body>> programs = {
      {"an expectation",
       [&](World&) {
         yield();
         EXPECT_TRUE(false);
         yield();
       }},
      {"an assertion",
       [&](World&) {
         yield();
         FERMATA_UNREACHABLE("never");
       }},
      {"an error",
       [&](World&) {
         yield();
         throw Error("unhandled");
       }},
      {"what the world is told",
       [&](World& world) {
         yield();
         world.fail(Verdict::Safety, "enough");
         yield();
       }},
      {"a deadlock",
       [&](World&) {
         yield();
         Mutex mutex("door");
         mutex.lock();
         mutex.lock();
       }},
      {"the step limit",
       [&](World&) {
         while (true) yield();
       }},
      {"the time limit",
       [](World&) {
         while (true) delay(1min);
       }},
      {"an action of the world",
       [](World& world) {
         world.at(1ms, [] { throw Error("no coroutine's"); });
         delay(1s);
       }},
  };
  WorldOptions options{.faults = FaultSet::none()};
  options.step_limit = 1'000;
  options.time_limit = 1h;
  for (const auto& [what, body] : programs) {
    const LastSteps last = last_steps_of(body, options);
    EXPECT_EQ(last.failure, last.run_log) << what;
    EXPECT_GT(last.failure, 0u) << what;
  }
}

TEST(RunLog, SaysWhyEachStepEnded) {
  const auto run_log = chronicle_of([](World&) {
    auto yields = spawn("yields", [] { suspend(); });
    auto fails = spawn("fails", [] { throw Error("as planned"); });
    Mutex mutex("door");
    const Mutex::Guard guard(mutex);
    auto waits = spawn("waits", [&] { mutex.lock(); });
    await(yields);
    EXPECT_THROW(await(fails), Error);
    waits.cancel();
    EXPECT_THROW(await(waits), Cancellation);
  });
  EXPECT_EQ(last_step_of(*run_log, "yields").ending, Ending::Ends);
  EXPECT_EQ(last_step_of(*run_log, "fails").ending, Ending::Fails);
  EXPECT_NE(last_step_of(*run_log, "fails").reason.find("as planned"), std::string::npos);
  EXPECT_EQ(last_step_of(*run_log, "main").ending, Ending::Ends);
  EXPECT_EQ(last_step_of(*run_log, "waits").ending, Ending::Cancelled);
  bool waited = false;
  bool yielded = false;
  for (const RunLog::Step& step : run_log->steps()) {
    const std::string& name = run_log->lanes()[step.lane].name;
    yielded |= name == "yields" && step.ending == Ending::Yields;
    waited |= name == "waits" && step.ending == Ending::Waits &&
              step.reason.find("door") != std::string::npos;
  }
  EXPECT_TRUE(yielded);
  EXPECT_TRUE(waited);
}

TEST(RunLog, SaysWhomAStepCancelsOnceAndWhetherItWaitsOrNot) {
  const auto run_log = chronicle_of([](World&) {
    auto waits = spawn("waits", [] { delay(1h); });
    auto ready = spawn("ready", [] {
      for (int i = 0; i < 5; ++i) suspend();
    });
    suspend();
    spawn("boss", [&] {
      waits.cancel();
      ready.cancel();
    });
    EXPECT_THROW(await(waits), Cancellation);
    EXPECT_THROW(await(ready), Cancellation);
  });
  std::vector<std::string> cancelled;
  for (const RunLog::Wake& wake : last_step_of(*run_log, "boss").woken) {
    if (wake.cause == backend::WakeCause::Cancel)
      cancelled.push_back(run_log->lanes()[wake.lane].name);
  }
  EXPECT_EQ(cancelled, (std::vector<std::string>{"waits", "ready"}));
  const std::string table = step_table(*run_log, {});
  EXPECT_NE(table.find("cancels 'waits'"), std::string::npos) << table;
  EXPECT_NE(table.find("ends, cancelled"), std::string::npos) << table;
}

TEST(RunLog, TellsCoroutinesOfOneNameApart) {
  std::set<std::string> names;
  const auto run_log = chronicle_of([](World&) {
    const auto crew = [] {
      const auto one = spawn("worker", [] { suspend(); });
      const auto two = spawn("worker", [] { suspend(); });
      await(one);
      await(two);
    };
    const auto boss = spawn("boss", crew);
    crew();
    await(boss);
  });
  for (const RunLog::Lane& lane : run_log->lanes()) names.insert(lane.name);
  EXPECT_EQ(names, (std::set<std::string>{"main", "boss", "worker", "worker #2", "worker #3",
                                          "worker #4"}));
}

TEST(RunLog, KnowsNothingOfACoroutineThatNoScopeTakes) {
  const auto run_log = chronicle_of([](World&) {
    const Scope scope = Scope::detached("over");
    scope.cancel();
    EXPECT_THROW(scope.spawn("late", [] {}), UsageError);
  });
  ASSERT_EQ(run_log->lanes().size(), 1u);
  EXPECT_EQ(run_log->lanes()[0].name, "main");
}

TEST(RunLog, SaysWhomAStepWokeAndSpawned) {
  const auto run_log = chronicle_of([](World&) {
    Promise<int> promise;
    auto future = promise.future();
    auto child = spawn("child", [&] {
      promise.complete(1);
      suspend();
    });
    EXPECT_EQ(await(future), 1);
    await(child);
  });
  const RunLog::Step& first = run_log->steps().front();
  ASSERT_EQ(first.woken.size(), 1u);
  EXPECT_EQ(run_log->lanes()[first.woken[0].lane].name, "child");
  EXPECT_EQ(first.woken[0].cause, backend::WakeCause::Spawn);
  const RunLog::Step& child = run_log->steps()[1];
  ASSERT_FALSE(child.woken.empty());
  EXPECT_EQ(run_log->lanes()[child.woken[0].lane].name, "main");
  EXPECT_EQ(child.woken[0].cause, backend::WakeCause::Event);
}

TEST(RunLog, SaysWhomTheEndOfACoroutineWakes) {
  const auto run_log = chronicle_of([](World&) {
    auto child = spawn("child", [] { suspend(); });
    await(child);
  });
  const RunLog::Step& end = last_step_of(*run_log, "child");
  EXPECT_EQ(end.ending, Ending::Ends);
  ASSERT_EQ(end.woken.size(), 1u);
  EXPECT_EQ(run_log->lanes()[end.woken[0].lane].name, "main");
  EXPECT_EQ(run_log->lanes()[end.lane].parent, 0u);
}

TEST(RunLog, WhatATimerWakesIsNoStepsDoing) {
  const auto run_log = chronicle_of([](World&) {
    auto sleeper = spawn("sleeper", [] { delay(1ms); });
    spawn("last", [] {});
    await(sleeper);
  });
  for (const RunLog::Step& step : run_log->steps()) {
    for (const RunLog::Wake& wake : step.woken) {
      const bool by_timer =
          run_log->lanes()[wake.lane].name == "sleeper" && wake.cause != backend::WakeCause::Spawn;
      EXPECT_FALSE(by_timer) << step.number;
    }
  }
}

TEST(RunLog, TellsThreadsOfOneMachineApart) {
  const auto run_log = chronicle_of([](World&) {
    auto thread = spawn_thread([] {
      suspend();
      return 1;
    });
    EXPECT_EQ(await(thread), 1);
  });
  for (const RunLog::Step& step : run_log->steps()) EXPECT_NE(step.ending, Ending::Runs);
}

TEST(RunLog, CountsStepsAsFailuresDo) {
  const auto run_log = chronicle_of([](World&) {
    for (int i = 0; i < 5; ++i) suspend();
  });
  std::uint64_t expected = 1;
  for (const RunLog::Step& step : run_log->steps()) EXPECT_EQ(step.number, expected++);
}

TEST(RunLog, NamesTheMachines) {
  const auto run_log = chronicle_of([](World& world) {
    world.node("other", [] { delay(1ms); });
    world.run();
  });
  std::set<std::string> machines;
  for (const RunLog::Lane& lane : run_log->lanes()) machines.insert(lane.machine);
  EXPECT_EQ(machines, (std::set<std::string>{"main", "other"}));
}

/// "main/worker: text", a line each.
std::string printed_of(const RunLog& run_log) {
  std::string text;
  for (const RunLog::Line& line : run_log.lines()) {
    text += line.machine;
    if (line.lane) text += '/' + run_log.lanes()[*line.lane].name;
    text += ": " + line.text + '\n';
  }
  return text;
}

TEST(RunLog, HasWhatTheProgramPrints) {
  const auto run_log = chronicle_of([](World& world) {
    world.node("server", [] {
      delay(1ms);
      std::printf("by C\n");
    });
    spawn("worker", [] { std::cout << "by C++" << std::endl; });
    FERMATA_LOG("by us, ", 1, " of ", 2);
    std::cerr << "one\ntwo\n";
    world.run();
  });
  EXPECT_EQ(printed_of(*run_log),
            "main/main: by us, 1 of 2\nmain/main: one\nmain/main: two\n"
            "main/worker: by C++\nserver/main: by C\n");
  EXPECT_EQ(run_log->lines().back().at, Instant{1'000'000});
}

TEST(RunLog, KeepsALineTogetherThatIsPrintedInPieces) {
  const auto run_log = chronicle_of([](World&) {
    std::cout << "a " << 1 << " b";
    suspend();
    std::printf(" c\n\n");
  });
  ASSERT_EQ(printed_of(*run_log), "main/main: a 1 b c\nmain/main: \n");
  EXPECT_EQ(run_log->lines().front().step, 0u) << "where it began";
  EXPECT_EQ(run_log->lines().back().step, 1u);
}

TEST(RunLog, KnowsWhenNoCoroutinePrints) {
  const auto run_log = chronicle_of([](World& world) {
    world.at(1ms, [] { FERMATA_LOG("an action"); });
    delay(2ms);
  });
  EXPECT_EQ(printed_of(*run_log), ": an action\n");
  EXPECT_EQ(run_log->lines().front().step, 1u);
  EXPECT_EQ(run_log->lines().front().at, Instant{1'000'000});
}

TEST(RunLog, KeepsTheBeginningOfALongLine) {
  const auto run_log =
      chronicle_of([](World&) { FERMATA_LOG(std::string(RunLog::kMostOfLine + 1, 'x'), "y"); });
  ASSERT_EQ(run_log->lines().size(), 1u);
  EXPECT_EQ(run_log->lines().front().text, std::string(RunLog::kMostOfLine, 'x'));
}

TEST(RunLog, OfWhatIsPrintedHasNoEffectOnTheRun) {
  Program program;
  program.body = [](World& world) {
    world.node("other", [] { std::printf("other\n"); });
    spawn("worker", [] { FERMATA_LOG("worker at ", now()); });
    delay(1ms);
    std::cout << "main\n";
    world.run();
  };
  Runner runner(program, "random", WorldOptions{});
  const RunResult before = runner.run(7);
  const std::string printed = runner.output();
  runner.set_recording(true);
  EXPECT_TRUE(runner.run(7).same_run(before));
  EXPECT_EQ(runner.output(), printed);
  EXPECT_EQ(runner.run_log()->lines().size(), 3u);
}

}  // namespace
}  // namespace fermata::sim
