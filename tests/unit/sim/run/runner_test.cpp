// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/runner.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fermata/runtime.hpp>
#include <string>

#include "fermata/sim/record/catalogue.hpp"
#include "fermata/sim/record/run_log.hpp"
#include "fermata/sim/record/step_probe.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

struct Listener final : DecisionListener {
  int runs = 0;

  void began() override { ++runs; }
  void decided(const Decision& /*decision*/) override {}
};

class RunnerTest : public ::testing::Test {
 protected:
  RunnerTest() {
    program.prepare = [this](const Preparation&) {
      if (refuses) throw Error("not prepared");
    };
    program.body = [](World&) {
      FERMATA_EVENTUALLY(1s, true, "the runner's program has begun");
      const auto other = spawn("other", [] { suspend(); });
      for (std::uint64_t i = random(10); i > 0; --i) suspend();
      await(other);
      FERMATA_REACHABLE("the runner's program ends");
    };
  }

  [[nodiscard]] AssertionCounts counts_of(const Runner& runner, const std::string& message) const {
    for (const Claim& claim : Catalogue::of_program(runner.assertion_counts()).claims()) {
      if (claim.message == message) return claim.counts;
    }
    throw Error("no claim " + message);
  }

  void expect_counted(const Runner& runner, std::uint64_t runs) const {
    for (const char* each : {"the runner's program has begun", "the runner's program ends"}) {
      EXPECT_EQ(counts_of(runner, each).reached, runs) << each;
      EXPECT_EQ(counts_of(runner, each).held, runs) << each;
    }
  }

  bool refuses = false;
  Program program;
};

TEST_F(RunnerTest, CountsAssertionsOfRunsThatExplore) {
  Runner runner(program, "random", WorldOptions{});
  RunResult result;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) result = runner.run(seed);
  expect_counted(runner, 3);
  EXPECT_FALSE(runner.twin(3, result));
  runner.steps_of(3, false);
  runner.steps_of(3, true);
  runner.set_recording(true);
  runner.run(3);
  runner.set_recording(true);
  runner.run(3);
  runner.set_recording(false);
  expect_counted(runner, 3);
  runner.run(4);
  expect_counted(runner, 4);
}

TEST_F(RunnerTest, LooksAtStepsWithoutTellingTheLastRunsChronicle) {
  Runner runner(program, "random", WorldOptions{});
  runner.set_recording(true);
  runner.run(1);
  const auto run_log = runner.run_log();
  const std::size_t steps = run_log->steps().size();
  const std::size_t turns = run_log->turns().size();
  EXPECT_GT(turns, 0u);
  StepProbe probe(1, 3);
  EXPECT_EQ(runner.steps_of(1, false, &probe), runner.steps_of(1, true));
  EXPECT_FALSE(probe.step(2).items.empty());
  EXPECT_EQ(run_log->steps().size(), steps);
  EXPECT_EQ(run_log->turns().size(), turns);
}

TEST_F(RunnerTest, ListensAsBeforeWhenAProbedRunCannotBegin) {
  Runner runner(program, "random", WorldOptions{});
  Listener listener;
  runner.set_listener(&listener);
  runner.run(1);
  refuses = true;
  {
    StepProbe probe(1, 10);
    EXPECT_THROW(runner.steps_of(1, false, &probe), Error);
    EXPECT_THROW(runner.steps_of(1, true, &probe), Error);
  }
  EXPECT_FALSE(runner.decisions().names().wanted());
  EXPECT_EQ(listener.runs, 1);
  refuses = false;
  EXPECT_FALSE(runner.twin(1, runner.run(1)));
  EXPECT_EQ(listener.runs, 3) << "twins too";
}

TEST(Runner, TellsWhatARunThatWasEndedByForceHasLeft) {
  bool left = false;
  Program careless;
  careless.body = [&](World&) {
    if (left) suspend();
    left = true;
    for (int i = 0; i < 20; ++i) suspend();
    left = false;
  };
  Runner runner(careless, "random", WorldOptions{});
  const std::optional<Failure> difference = runner.second_life(1, runner.run(1));
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->verdict, Verdict::Nondeterminism);
  EXPECT_EQ(difference->message, "the same seed gave another run after one ended by force");
}

TEST(Runner, TellsWhatARunLeavesForTheNextFromWhatAnotherHeapDoes) {
  int runs = 0;
  Program careless;
  careless.body = [&](World&) {
    if (++runs == 2) suspend();
  };
  Runner runner(careless, "random", WorldOptions{});
  const std::optional<Failure> difference = runner.twin(1, runner.run(1));
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->verdict, Verdict::Nondeterminism);
  EXPECT_EQ(difference->message,
            "state leaks between runs: the same seed, run again, gave another run");
  EXPECT_NE(difference->explanation.find("no step differs when both are run again, on 32 heaps"),
            std::string::npos)
      << difference->explanation;
}

}  // namespace
}  // namespace fermata::sim
