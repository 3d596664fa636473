// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/audit_choice.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "examples/lost_update/lost_update.hpp"
#include "fermata/runtime.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/run/explore.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

void go_round() { suspend(); }

/// What an audit of each step sees, and at the end of the run nobody.
void miscount_for(int steps) {
  fermata::detail::Kernel& kernel = current_runtime().kernel();
  ++kernel.active_events;
  for (int i = 0; i < steps; ++i) suspend();
  --kernel.active_events;
}

ExploreOptions search_of(std::uint64_t runs) {
  ExploreOptions options;
  options.name = "Suite.Name";
  options.runs = runs;
  options.strategy = "random";
  options.faults = "none";
  return options;
}

/// A run of the search that is neither among the first, nor checked, nor in the share by seed.
std::uint64_t ordinary_run(const ExploreOptions& options) {
  std::uint64_t run = 200;
  while (run % options.check_determinism == 0 ||
         !AuditChoice::may_sample(run, run_seed(options.seed, run))) {
    ++run;
  }
  return run;
}

/// Explores a program of one coroutine that does in one run something else than in all others.
ExploreResult explore_with(ExploreOptions options, std::uint64_t special,
                           const std::function<void()>& usual,
                           const std::function<void()>& unusual) {
  std::uint64_t present = 0;
  options.on_run = [&](std::uint64_t run, const ExploreResult&) {
    present = run;
    return true;
  };
  return explore(options, [&](World&) { present == special ? unusual() : usual(); });
}

TEST(AuditChoice, LeavesTheFirstRunsAndAShareToBeAuditedStepByStep) {
  std::uint64_t sampled = 0;
  for (std::uint64_t run = 0; run < 10'000; ++run) {
    const bool may = AuditChoice::may_sample(run, run_seed(1, run));
    EXPECT_FALSE(may && run < AuditChoice::kFirstRuns);
    sampled += may;
  }
  EXPECT_NEAR(static_cast<double>(sampled), (10'000 - 64) * 7.0 / 8, 150);
}

TEST(AuditChoice, TakesForNewsWhatIsNewWhenLittleElseIs) {
  DistinctRuns behaviours;
  behaviours.add(8);
  behaviours.add(8);
  behaviours.add(16);
  EXPECT_FALSE(AuditChoice::is_news(behaviours, 3));
  EXPECT_FALSE(AuditChoice::is_news(behaviours, 16));
  EXPECT_TRUE(AuditChoice::is_news(behaviours, 17));
}

// The law: whoever looks changes nothing.
TEST(AuditChoice, ChangesNoRun) {
  const auto program = [](World&) {
    deposit_twice();
    const auto sleeper = spawn("sleeper", [] {
      for (int i = 0; i < 40; ++i) delay(1ms);
    });
    spawn("detached", [] { suspend(); });
    wait(*sleeper);
  };
  for (const std::string strategy : {"portfolio", "random", "pct:3", "pos", "fifo"}) {
    ExploreOptions options = search_of(400);
    options.strategy = strategy;
    options.faults = "all";
    const ExploreResult adaptive = explore(options, program);
    EXPECT_FALSE(adaptive.found) << strategy;
    options.adaptive_audit = false;
    for (const bool full : {false, true}) {
      options.world.full_audit = full;
      const ExploreResult other = explore(options, program);
      EXPECT_EQ(other.trace_hash, adaptive.trace_hash) << strategy;
      EXPECT_EQ(other.steps, adaptive.steps) << strategy;
      EXPECT_EQ(other.draws, adaptive.draws) << strategy;
      EXPECT_EQ(other.distinct_runs, adaptive.distinct_runs) << strategy;
    }
  }
}

void echo_to_anybody() {
  TcpListener listener = TcpListener::bind({"0.0.0.0", 7});
  while (true) {
    spawn("echo", [stream = listener.accept()]() mutable {
      std::array<std::byte, 16> message;
      while (const std::size_t size = stream->read(message)) {
        stream->write(std::span(message).first(size));
      }
    });
  }
}

void ask_for_an_echo(const Address& server) {
  try {
    TcpStream stream = TcpStream::connect(server, {.timeout = 50ms});
    std::array<std::byte, 16> message{};
    stream.write(message);
    stream.read(message, {.timeout = 50ms});
  } catch (const Error&) {  // The network has faults.
  }
}

TEST(AuditChoice, ASampledRunIsTheRunOfItsSeed) {
  Program program;
  program.body = [](World& world) {
    Node& server = world.node("server", echo_to_anybody);
    for (int i = 0; i < 10; ++i) {
      spawn("client", [&] { ask_for_an_echo(server.address(7)); });
      spawn("detached", deposit_twice);
      delay(1ms);
    }
    delay(100ms);
    server.crash();
  };
  for (const std::string strategy : {"random", "pct:3", "fifo"}) {
    Runner runner(program, strategy, {});
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      const RunResult sampled = runner.run_sampled(seed);
      EXPECT_TRUE(runner.was_sampled());
      EXPECT_TRUE(runner.run(seed).same_run(sampled)) << strategy << ' ' << seed;
    }
  }
}

TEST(AuditChoice, MissesInAnOrdinaryRunWhatOnlyAnAuditOfItsStepsSees) {
  ExploreOptions options = search_of(300);
  const std::uint64_t special = ordinary_run(options);
  EXPECT_FALSE(explore_with(options, special, go_round, [] { miscount_for(1); }).found);
  options.adaptive_audit = false;
  const ExploreResult result = explore_with(options, special, go_round, [] { miscount_for(1); });
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->run, special);
}

TEST(AuditChoice, MeetsWhatManyRunsHaveInOneOfAFew) {
  ExploreOptions options = search_of(1'000);
  std::uint64_t present = 0;
  options.on_run = [&](std::uint64_t run, const ExploreResult&) {
    present = run;
    return true;
  };
  const ExploreResult result = explore(options, [&](World&) {
    present < AuditChoice::kFirstRuns + 1 ? suspend() : miscount_for(1);
  });
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->failure.message.find("CORE-EV-01: "), 0u);
  EXPECT_LT(result.found->run, AuditChoice::kFirstRuns + 40);
}

TEST(AuditChoice, AuditsTheStepsOfARunThatIsUnlikeTheOthers) {
  const ExploreOptions options = search_of(300);
  const std::uint64_t special = ordinary_run(options);
  const ExploreResult result = explore_with(options, special, go_round, [] { miscount_for(2); });
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->run, special);
  EXPECT_TRUE(result.found->repeatable);
}

TEST(AuditChoice, TellsOfAFailureWhatAnAuditOfEachStepTells) {
  const auto usual = [] {
    for (int i = 0; i < 20; ++i) suspend();
  };
  const auto damaged = [] {
    suspend();
    ++current_runtime().kernel().active_events;
    for (int i = 0; i < 19; ++i) suspend();
  };
  ExploreOptions options = search_of(300);
  const std::uint64_t special = ordinary_run(options);
  const ExploreResult adaptive = explore_with(options, special, usual, damaged);
  options.adaptive_audit = false;
  const ExploreResult touched = explore_with(options, special, usual, damaged);
  ASSERT_TRUE(adaptive.found && touched.found);
  EXPECT_EQ(adaptive.found->run, special);
  EXPECT_EQ(adaptive.found->failure.message, touched.found->failure.message);
  EXPECT_EQ(adaptive.found->failure.step, touched.found->failure.step);
  EXPECT_EQ(adaptive.found->steps, touched.found->steps);
  EXPECT_TRUE(adaptive.found->repeatable);
}

TEST(AuditChoice, SamplesALongRun) {
  Program program;
  bool damaged = false;
  program.body = [&](World&) {
    for (int i = 0; i < 500; ++i) suspend();
    if (damaged) miscount_for(3'000);
    for (int i = 0; i < 500; ++i) suspend();
  };
  Runner runner(program, "random", {.faults = FaultSet::none()});
  EXPECT_FALSE(runner.run_sampled(1).failure);
  EXPECT_TRUE(runner.was_sampled());
  damaged = true;
  const RunResult result = runner.run_sampled(1);
  ASSERT_TRUE(result.failure);
  EXPECT_FALSE(runner.was_sampled()) << "a run that fails is run again";
  EXPECT_EQ(result.failure->step, 502u);
}

TEST(AuditChoice, CountsARunThatIsRepeatedOnce) {
  Program program;
  program.body = [](World&) { FERMATA_REACHABLE("here"); };
  Runner runner(program, "random", {.faults = FaultSet::none()});
  const auto hits = [&] {
    std::uint64_t sum = 0;
    for (const AssertionCounts& counts : runner.assertion_counts()) sum += counts.reached;
    return sum;
  };
  const RunResult first = runner.run_sampled(3);
  EXPECT_EQ(hits(), 1u);
  EXPECT_TRUE(runner.audit(3).same_run(first));
  EXPECT_EQ(hits(), 1u);
}

}  // namespace
}  // namespace fermata::sim
