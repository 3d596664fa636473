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
#include "fermata/runtime.hpp"
#include "fermata/runtime/base/sanitizer.hpp"
#include "fermata/sim/run/distinct.hpp"
#include "fermata/sim/run/reproduce.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

ExploreOptions runs_of(std::uint64_t runs) {
  ExploreOptions options;
  options.name = "Suite.Name";
  options.runs = runs;
  return options;
}

void race(World& /*world*/) { EXPECT_EQ(deposit_twice(), 2); }

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
  const ExploreResult result = explore(runs_of(1'000), race);
  ASSERT_TRUE(result.found);
  const FoundFailure& found = *result.found;
  EXPECT_EQ(result.runs, found.run + 1);
  EXPECT_EQ(found.failure.verdict, Verdict::Safety);
  EXPECT_EQ(found.failure.coroutine, "main");
  EXPECT_EQ(found.tape.test, "Suite.Name");
  EXPECT_EQ(found.tape.strategy, "random");
  EXPECT_EQ(found.steps, found.step_hashes.size());
  ASSERT_FALSE(found.tape.decisions.empty());
  EXPECT_NE(describe(found.tape.decisions.back(), found.tape.names).find("runs before '"),
            std::string::npos);
}

TEST(Explore, FindsNothingWhereNothingVaries) {
  for (const char* strategy : {"fifo", "calm"}) {
    ExploreOptions options = runs_of(1'000);
    options.strategy = strategy;
    EXPECT_FALSE(explore(options, race).found) << strategy;
  }
}

TEST(Explore, GivesASeedThatIsTheFailingRunAlone) {
  for (const char* strategy : {"random", "pct:2", "pct:3"}) {
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
  EXPECT_EQ(result.found->output.find("[+0.000000 ms main] hello world\n[+1."), 0u)
      << result.found->output;
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

TEST(Explore, RefusesStrategiesAndFaultsThatThereAreNot) {
  ExploreOptions options = runs_of(1);
  options.strategy = "luck";
  EXPECT_THROW(static_cast<void>(explore(options, race)), Error);
  options.strategy = "random";
  options.faults = "gremlins";
  EXPECT_THROW(static_cast<void>(explore(options, race)), Error);
}

TEST(Distinct, CountsEachNumberOnce) {
  detail::Distinct distinct;
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t i = 0; i < 5'000; ++i) distinct.add(key_of(1, i));
    distinct.add(0);
  }
  EXPECT_EQ(distinct.count(), 5'001u);
}

TEST(Reproduce, FixesEverythingThatIsNotUsual) {
  Options options;
  options.time_limit = 90s;
  options.instant_limit = 77;
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

TEST(Reproduce, QuotesWhatAShellWouldRead) {
  EXPECT_EQ(detail::shell_quoted("plain/path-1"), "plain/path-1");
  EXPECT_EQ(detail::shell_quoted("two words"), "'two words'");
  EXPECT_EQ(detail::shell_quoted("it's $HOME"), "'it'\\''s $HOME'");
  EXPECT_EQ(detail::shell_quoted(""), "''");
}

}  // namespace
}  // namespace fermata::sim
