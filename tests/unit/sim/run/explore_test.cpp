// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/explore.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "examples/lost_update/lost_update.hpp"
#include "fermata/base/sanitizer.hpp"
#include "fermata/runtime.hpp"
#include "fermata/sim/base/program_path.hpp"
#include "fermata/sim/run/distinct_runs.hpp"
#include "fermata/sim/run/reproduce.hpp"
#include "tests/support/deposits.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::race;

ExploreOptions runs_of(std::uint64_t runs) {
  ExploreOptions options;
  options.name = "Suite.Name";
  options.runs = runs;
  return options;
}

TEST(Explore, CountsWhatItDid) {
  ExploreOptions options = runs_of(200);
  options.faults = "none";
  const ExploreResult result = explore(options, [](World&) { fermata::delay(5ms); });
  EXPECT_EQ(result.runs, 200u);
  EXPECT_EQ(result.determinism_checks, 4u);
  EXPECT_EQ(result.distinct_runs, 1u);
  EXPECT_EQ(result.virtual_time, 200 * 5ms);
  EXPECT_GE(result.steps, 200u);
  EXPECT_FALSE(result.found);
}

TEST(Explore, IsTheSameForTheSameSeed) {
  const auto program = [](World&) { deposit_twice(); };
  ExploreOptions options = runs_of(300);
  const ExploreResult first = explore(options, program);
  EXPECT_EQ(explore(options, program).trace_hash, first.trace_hash);
  EXPECT_GT(first.distinct_runs, 3u);
  options.seed = 2;
  EXPECT_NE(explore(options, program).trace_hash, first.trace_hash);
}

TEST(Explore, EndsAtTheFirstFailureAndTellsItAll) {
  ExploreOptions options = runs_of(1'000);
  options.faults = "none";
  const ExploreResult result = explore(options, race);
  ASSERT_TRUE(result.found);
  const FoundFailure& found = *result.found;
  EXPECT_EQ(result.runs, found.run + 1);
  EXPECT_EQ(found.failure.verdict, Verdict::Safety);
  EXPECT_EQ(found.failure.coroutine, "main");
  EXPECT_EQ(found.tape.test, "Suite.Name");
  EXPECT_NE(found.tape.strategy, "portfolio");  // The member whose run it was.
  EXPECT_EQ(found.steps, found.step_hashes.size());
  ASSERT_FALSE(found.tape.decisions.empty());
  EXPECT_NE(describe(found.tape.decisions.back(), found.tape.names).find("runs before '"),
            std::string::npos);
}

void skip_with_a_reason() { GTEST_SKIP() << "no such device"; }

TEST(Explore, SkipsRunsThatSkip) {
  ExploreOptions options = runs_of(100);
  options.faults = "none";
  const ExploreResult all = explore(options, [](World&) {
    skip_with_a_reason();
    fermata::suspend();
    ADD_FAILURE() << "the run goes on";
  });
  EXPECT_EQ(all.runs, 100u);
  EXPECT_EQ(all.skipped, 100u);
  EXPECT_TRUE(all.is_skipped());
  EXPECT_EQ(all.distinct_runs, 0u);
  EXPECT_NE(all.skip_reason.find("explore_test.cpp:"), std::string::npos) << all.skip_reason;
  EXPECT_TRUE(all.skip_reason.ends_with(": no such device")) << all.skip_reason;
  EXPECT_FALSE(all.found);
}

TEST(Explore, JudgesTheRunsThatDoNotSkip) {
  ExploreOptions options = runs_of(1'000);
  options.faults = "none";
  const auto skip_some = [](World& world) {
    if (fermata::random(8) != 0) return skip_with_a_reason();
    race(world);
  };
  const ExploreResult result = explore(options, skip_some);
  EXPECT_TRUE(result.found);
  EXPECT_GT(result.skipped, 0u);
  EXPECT_LT(result.skipped, result.runs);
  EXPECT_FALSE(result.is_skipped());
}

TEST(Explore, FindsNothingWhereNothingVaries) {
  for (const char* strategy : {"fifo", "calm"}) {
    ExploreOptions options = runs_of(1'000);
    options.strategy = strategy;
    EXPECT_FALSE(explore(options, race).found) << strategy;
  }
}

TEST(Explore, GivesASeedThatIsTheFailingRunAlone) {
  for (const char* strategy :
       {"portfolio", "random", "pct:2", "pct:3", "pos", "urw", "delay:2", "dfs"}) {
    ExploreOptions options = runs_of(1'000);
    options.strategy = strategy;
    const ExploreResult result = explore(options, race);
    ASSERT_TRUE(result.found) << strategy;
    ExploreOptions alone = runs_of(1);
    alone.seed = result.found->tape.seed;
    alone.strategy = result.found->tape.strategy;
    const ExploreResult again = explore(alone, race);
    ASSERT_TRUE(again.found) << strategy;
    EXPECT_EQ(again.found->tape.trace_hash, result.found->tape.trace_hash);
    EXPECT_EQ(again.found->tape.decisions, result.found->tape.decisions);
  }
}

TEST(Explore, KeepsWhatTheFailingRunPrinted) {
  int runs = 0;
  const ExploreResult result = explore(runs_of(10), [&](World&) {
    std::printf("hello");
    fermata::delay(1ms);
    std::cout << " world" << std::endl;
    std::cerr << "second line\n";
    static_cast<void>(runs++);
    EXPECT_TRUE(false);
  });
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->output.find("[+0 ms main] hello world\n[+1"), 0u) << result.found->output;
}

TEST(Explore, ReportsStateThatOneRunLeavesToTheNext) {
  int runs = 0;
  const ExploreResult result = explore(runs_of(100), [&](World&) { EXPECT_NE(++runs, 50); });
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->failure.verdict, Verdict::Nondeterminism);
  EXPECT_FALSE(result.found->repeatable);
}

TEST(Explore, ReportsRunsThatDependOnAddresses) {
  ExploreOptions options = runs_of(500);
  options.check_determinism = 1;
  const ExploreResult result = explore(options, [](World&) {
    const auto block = std::make_unique<char[]>(600);
    const auto address = reinterpret_cast<std::uintptr_t>(block.get());
    for (std::uintptr_t i = 0; i < (address >> 4) % 61; ++i) fermata::suspend();
  });
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->failure.verdict, Verdict::Nondeterminism);
}

TEST(Explore, ReportsRunsThatReadWhatTheyNeverWrote) {
#ifdef FERMATA_ASAN
  GTEST_SKIP() << "AddressSanitizer gives every block the same content";
#endif
  ExploreOptions options = runs_of(10);
  options.check_determinism = 1;
  const ExploreResult result = explore(options, [](World&) {
    const std::unique_ptr<volatile unsigned char[]> block(new volatile unsigned char[3'000]);
    for (int i = 0; i < block[2'000] % 7; ++i) fermata::suspend();
  });
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->failure.verdict, Verdict::Nondeterminism);
}

TEST(Explore, PreparesBeforeEachRunFromItsSeed) {
  std::vector<std::uint64_t> seeds;
  Program program;
  program.prepare = [&](const Preparation& preparation) { seeds.push_back(preparation.seed); };
  program.body = [](World&) {};
  ExploreOptions options = runs_of(3);
  options.seed = 9;
  options.check_determinism = 0;
  static_cast<void>(explore(options, program));
  ASSERT_EQ(seeds.size(), 3u);
  EXPECT_EQ(seeds[0], 9u);
  EXPECT_NE(seeds[1], seeds[2]);
}

TEST(Explore, CutIntoPartsIsTheSameExploration) {
  const auto program = [](World&) { deposit_twice(); };
  ExploreOptions options = runs_of(300);
  options.strategy = "random";  // Learns nothing from one run for the next.
  const ExploreResult whole = explore(options, program);
  DistinctRuns behaviours;
  std::uint64_t steps = 0;
  options.runs = 100;
  for (options.first_run = 0; options.first_run < 300; options.first_run += 100) {
    const ExploreResult part = explore(options, program);
    EXPECT_GE(part.steps_min, whole.steps_min);
    EXPECT_LE(part.steps_max, whole.steps_max);
    behaviours.add(part.behaviours);
    steps += part.steps;
  }
  EXPECT_EQ(steps, whole.steps);
  EXPECT_EQ(behaviours.entries(), whole.behaviours.entries());
}

TEST(Explore, KeepsOfEachSignatureTheShortestRun) {
  const auto body = [](World&) {
    const std::uint64_t kind = fermata::random(4);
    for (std::uint64_t i = fermata::random(9); i > 0; --i) fermata::suspend();
    EXPECT_NE(kind, 1u) << "one";
    EXPECT_NE(kind, 2u) << "two";
  };
  ExploreOptions options = runs_of(500);
  options.keep_going = true;
  const ExploreResult result = explore(options, body);
  EXPECT_EQ(result.runs, 500u);
  EXPECT_GT(result.failures, 100u);
  ASSERT_TRUE(result.found);
  ASSERT_EQ(result.others.size(), 1u);
  EXPECT_EQ(result.found->steps, result.steps_min);
  EXPECT_EQ(result.others[0].steps, result.steps_min);
  EXPECT_NE(result.found->failure.signature(), result.others[0].failure.signature());
}

TEST(Explore, EndsWhenToldTo) {
  ExploreOptions options = runs_of(500);
  options.on_run = [](std::uint64_t run, const ExploreResult& so_far) {
    EXPECT_EQ(so_far.runs, run);
    return run < 20;
  };
  EXPECT_EQ(explore(options, [](World&) {}).runs, 20u);
}

TEST(Explore, KnowsItsLongestRuns) {
  ExploreOptions options = runs_of(200);
  const ExploreResult result = explore(options, [](World&) {
    for (std::uint64_t i = fermata::random(1'000); i > 0; --i) fermata::suspend();
  });
  EXPECT_EQ(result.longest[0].steps, result.steps_max);
  EXPECT_GT(result.longest[0].steps, result.longest[1].steps);
  EXPECT_GT(result.longest[1].steps, result.longest[2].steps);
  options.first_run = result.longest[1].run;
  options.runs = 1;
  EXPECT_EQ(explore(options,
                    [](World&) {
                      for (std::uint64_t i = fermata::random(1'000); i > 0; --i) fermata::suspend();
                    })
                .steps,
            result.longest[1].steps);
}

TEST(Explore, CountsRunsThatCameToALimit) {
  ExploreOptions options = runs_of(20);
  options.keep_going = true;
  options.world.step_limit = 100;
  const ExploreResult result = explore(options, [](World&) {
    while (fermata::random(2) == 0) {
      for (int i = 0; i < 200; ++i) fermata::suspend();
    }
  });
  EXPECT_GT(result.limit_stops, 0u);
  EXPECT_EQ(result.limit_stops, result.failures);
  EXPECT_LT(result.limit_stops, 20u);
}

TEST(Explore, TellsALimitFromWhatReadsLikeOne) {
  ExploreOptions options = runs_of(10);
  options.keep_going = true;
  const ExploreResult result = explore(options, [](World& world) {
    world.fail(Verdict::Liveness, "livelock: so says the program");
  });
  EXPECT_EQ(result.failures, 10u);
  EXPECT_EQ(result.limit_stops, 0u);
}

TEST(Explore, RefusesStrategiesAndFaultsThatThereAreNot) {
  ExploreOptions options = runs_of(1);
  options.strategy = "luck";
  EXPECT_THROW(static_cast<void>(explore(options, race)), Error);
  options.strategy = "random";
  options.faults = "gremlins";
  EXPECT_THROW(static_cast<void>(explore(options, race)), Error);
}

TEST(Reproduce, FixesEverythingThatIsNotUsual) {
  Options options;
  options.limits.time = 90s;
  options.limits.steps_at_instant = 77;
  options.full_audit = true;
  options.check_determinism = 1;
  const detail::Reproduction reproduction{42, 3, "pct:2:k=9"};
  const std::string line =
      detail::command_line(detail::settings_of(reproduction, options), "Suite.Name");
  EXPECT_EQ(line.find("FERMATA_SEED=0x2a FERMATA_RUNS=3 FERMATA_STRATEGY=pct:2:k=9 "
                      "FERMATA_FAULTS=all FERMATA_TIME_LIMIT=90s FERMATA_INSTANT_LIMIT=77 "
                      "FERMATA_AUDIT=full FERMATA_CHECK_DETERMINISM=1 "),
            0u)
      << line;
  EXPECT_NE(line.find(" --gtest_filter=Suite.Name"), std::string::npos) << line;
}

TEST(Reproduce, SaysThatEachStepIsAudited) {
  const detail::Reproduction reproduction{42, 1, "random"};
  Options options;
  const auto line = [&] {
    return detail::command_line(detail::settings_of(reproduction, options), "Suite.Name");
  };
  EXPECT_EQ(line().find("FERMATA_AUDIT"), std::string::npos) << line();
  options.adaptive_audit = false;
  EXPECT_NE(line().find(" FERMATA_AUDIT=touched "), std::string::npos) << line();
}

TEST(Reproduce, QuotesWhatAShellWouldRead) {
  EXPECT_EQ(detail::shell_quoted("plain/path-1"), "plain/path-1");
  EXPECT_EQ(detail::shell_quoted("two words"), "'two words'");
  EXPECT_EQ(detail::shell_quoted("it's $HOME"), "'it'\\''s $HOME'");
  EXPECT_EQ(detail::shell_quoted(""), "''");
}

}  // namespace
}  // namespace fermata::sim
