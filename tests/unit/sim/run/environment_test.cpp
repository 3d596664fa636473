// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/environment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/sim/base/seed.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

Options read(std::vector<const char*> entries) {
  entries.push_back(nullptr);
  return read_environment(entries.data());
}

std::string refusal(const char* entry) {
  try {
    read({entry});
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Environment, LeavesEverythingAtItsDefault) {
  const Options options = read({"PATH=/bin", "fermata_seed=3", "XFERMATA_SEED=4"});
  EXPECT_FALSE(options.seed);
  EXPECT_FALSE(options.runs);
  EXPECT_EQ(options.strategy, "portfolio");
  EXPECT_EQ(options.limits.time, 24h);
}

TEST(Environment, ReadsEveryVariable) {
  const Options options = read({"FERMATA_SEED=0x2a",
                                "FERMATA_RUNS=7",
                                "FERMATA_STRATEGY=pct:3:k=57",
                                "FERMATA_REPLAY=a.tape",
                                "FERMATA_REPLAY_MODE=best",
                                "FERMATA_FAULTS=delay,reset",
                                "FERMATA_TIME_LIMIT=250ms",
                                "FERMATA_STEP_LIMIT=99",
                                "FERMATA_INSTANT_LIMIT=98",
                                "FERMATA_CHECK_DETERMINISM=0",
                                "FERMATA_AUDIT=full",
                                "FERMATA_OUT=out",
                                "FERMATA_TRACE=steps",
                                "FERMATA_INTERNAL_CONFIRM=answer",
                                "FERMATA_CHECKS_OUT=checks",
                                "FERMATA_FIRST_RUN=96",
                                "FERMATA_KEEP_GOING=on",
                                "FERMATA_INTERNAL_LIST=list",
                                "FERMATA_INTERNAL_BOARD=status",
                                "FERMATA_INTERNAL_EVENTS=events",
                                "FERMATA_JOBS=anything",
                                "FERMATA_ROOT=/usr",
                                "FERMATA_DIR=/usr/lib",
                                "FERMATA_LOOP=select"});
  EXPECT_EQ(options.seed, 42u);
  EXPECT_EQ(options.runs, 7u);
  EXPECT_EQ(options.strategy, "pct:3:k=57");
  EXPECT_EQ(options.replay, "a.tape");
  EXPECT_EQ(options.replay_mode, ReplayMode::Best);
  EXPECT_TRUE(options.faults.has(Fault::Delay));
  EXPECT_FALSE(options.faults.has(Fault::Hung));
  EXPECT_EQ(options.limits.time, 250ms);
  EXPECT_EQ(options.limits.steps, 99u);
  EXPECT_EQ(options.limits.steps_at_instant, 98u);
  EXPECT_EQ(options.check_determinism, 0u);
  EXPECT_TRUE(options.full_audit);
  EXPECT_FALSE(options.adaptive_audit);
  EXPECT_EQ(options.out, "out");
  EXPECT_EQ(options.trace, TraceMode::Steps);
  EXPECT_EQ(options.confirm, "answer");
  EXPECT_EQ(options.first_run, 96u);
  EXPECT_TRUE(options.keep_going);
  EXPECT_EQ(options.list, "list");
  EXPECT_EQ(options.status, "status");
  EXPECT_EQ(options.events, "events");
}

TEST(Environment, SaysWhichReportsThereAreToBe) {
  EXPECT_TRUE(read({}).reports);
  EXPECT_EQ(read({}).report, "");
  EXPECT_FALSE(read({"FERMATA_REPORT=off"}).reports);
  const Options options = read({"FERMATA_REPORT=run.html", "FERMATA_REPORT_FORMAT=chrome"});
  EXPECT_EQ(options.report, "run.html");
  EXPECT_EQ(options.report_format, ReportFormat::Chrome);
  EXPECT_EQ(refusal("FERMATA_REPORT_FORMAT=svg"),
            "FERMATA_REPORT_FORMAT: 'svg' is unknown; expected html, chrome, pcap or json");
}

TEST(Environment, SaysHowMuchIsAudited) {
  EXPECT_TRUE(read({}).adaptive_audit);
  EXPECT_FALSE(read({}).full_audit);
  EXPECT_FALSE(read({"FERMATA_AUDIT=touched"}).adaptive_audit);
  EXPECT_FALSE(read({"FERMATA_AUDIT=touched"}).full_audit);
  EXPECT_EQ(refusal("FERMATA_AUDIT=none"),
            "FERMATA_AUDIT: 'none' is unknown; expected adaptive or touched or full");
}

TEST(Environment, SaysWhatIsShownOfAReplay) {
  EXPECT_FALSE(read({}).shows_network || read({}).shows_disk);
  EXPECT_TRUE(read({"FERMATA_NETWORK=on"}).shows_network);
  EXPECT_TRUE(read({"FERMATA_DISK=on"}).shows_disk);
  EXPECT_EQ(read({"FERMATA_AT=12"}).moment.step, 12u);
  EXPECT_EQ(read({"FERMATA_AT=250us"}).moment.time, Instant{250'000});
  EXPECT_EQ(read({"FERMATA_AT=+4.096 ms"}).moment.time, Instant{4'096'000});
  EXPECT_EQ(read({"FERMATA_AT=0.5ms"}).moment.time, Instant{500'000});
  EXPECT_EQ(
      refusal("FERMATA_AT=soon"),
      "FERMATA_AT: 'soon' is not a valid moment; expected a step, such as 12, or a time, such as "
      "250ms or 4.096ms");
  EXPECT_EQ(refusal("FERMATA_AT=.ms").find("FERMATA_AT: '.ms' is not a valid moment"), 0u);
  EXPECT_EQ(
      refusal("FERMATA_AT=1.0000001ms").find("FERMATA_AT: '1.0000001ms' is not a valid moment"),
      0u);
}

TEST(Environment, NamesWhatItRefuses) {
  EXPECT_EQ(refusal("FERMATA_SEEDS=1"),
            "unknown variable FERMATA_SEEDS; docs/environment.md lists them; did you mean "
            "FERMATA_SEED?");
  EXPECT_EQ(refusal("FERMATA_WEATHER=1"),
            "unknown variable FERMATA_WEATHER; docs/environment.md lists them");
  EXPECT_EQ(refusal("FERMATA_INTERNAL_LISTS=1"),
            "unknown variable FERMATA_INTERNAL_LISTS; docs/environment.md lists them")
      << "users set none of those";
  EXPECT_EQ(refusal("FERMATA_SHRINK=2"),
            "FERMATA_SHRINK: '2' is unknown; expected auto or on or off");
  EXPECT_EQ(refusal("FERMATA_RUNS=1k"),
            "FERMATA_RUNS: '1k' is not a valid number; expected decimal digits");
  EXPECT_EQ(refusal("FERMATA_OUT="), "FERMATA_OUT: the path is empty");
}

TEST(Environment, DefaultsInTheTableAreTheDefaults) {
  const Options untouched = read({});
  for (const Variable& variable : variables()) {
    if (variable.read == nullptr || variable.default_text.empty()) continue;
    Options options;
    variable.read(options, variable.default_text);
    EXPECT_EQ(options.strategy, untouched.strategy) << variable.name;
    EXPECT_EQ(options.limits, untouched.limits) << variable.name;
    EXPECT_EQ(options.check_determinism, untouched.check_determinism) << variable.name;
    EXPECT_EQ(options.out, untouched.out) << variable.name;
    EXPECT_EQ(options.trace, untouched.trace) << variable.name;
    EXPECT_EQ(options.first_run, untouched.first_run) << variable.name;
    EXPECT_EQ(options.keep_going, untouched.keep_going) << variable.name;
    EXPECT_EQ(options.full_audit, untouched.full_audit) << variable.name;
    EXPECT_EQ(options.adaptive_audit, untouched.adaptive_audit) << variable.name;
    EXPECT_EQ(options.replay_mode, untouched.replay_mode) << variable.name;
    EXPECT_EQ(options.faults, untouched.faults) << variable.name;
    EXPECT_EQ(options.runs.value_or(Options::kDefaultRuns), Options::kDefaultRuns) << variable.name;
    EXPECT_EQ(options.seed.value_or(Options::kDefaultSeed), Options::kDefaultSeed) << variable.name;
  }
}

TEST(Environment, TablesAreInAlphabeticalOrder) {
  for (const std::span<const Variable> table : {variables(), internal_variables()}) {
    EXPECT_TRUE(
        std::is_sorted(table.begin(), table.end(),
                       [](const Variable& a, const Variable& b) { return a.name < b.name; }));
  }
}

TEST(Environment, KeepsItsOwnVariablesOutOfTheTableOfUsers) {
  for (const Variable& variable : internal_variables()) {
    EXPECT_TRUE(variable.name.starts_with("FERMATA_INTERNAL_")) << variable.name;
    EXPECT_EQ(find_variable(variable.name), &variable);
    EXPECT_EQ(environment_document().find(variable.name), std::string::npos) << variable.name;
  }
}

TEST(Environment, DocumentIsTheTable) {
  std::ifstream file(FERMATA_SOURCE_DIR "/docs/environment.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, environment_document()) << "docs/environment.md is to be written anew";
}

TEST(Durations, AreReadInEveryUnit) {
  EXPECT_EQ(parse_duration("7ns"), 7ns);
  EXPECT_EQ(parse_duration("7us"), 7us);
  EXPECT_EQ(parse_duration("7ms"), 7ms);
  EXPECT_EQ(parse_duration("7s"), 7s);
  EXPECT_EQ(parse_duration("7min"), 7min);
  EXPECT_EQ(parse_duration("7h"), 7h);
}

TEST(Durations, AreWrittenInTheLargestUnitThatFits) {
  for (const char* text : {"1ns", "250ms", "90s", "24h", "61min", "1001us"}) {
    EXPECT_EQ(duration_text(parse_duration(text)), text);
  }
  EXPECT_EQ(duration_text(120s), "2min");
}

TEST(Durations, OfOtherFormsAreRefused) {
  for (const char* text : {"", "5", "ms", "-5ms", "5 ms", "5m", "1.5s", "0s", "99999999999h"}) {
    EXPECT_THROW(static_cast<void>(parse_duration(text)), UsageError) << text;
  }
}

TEST(Seeds, AreDecimalHexadecimalOrACommit) {
  EXPECT_EQ(parse_seed("0"), 0u);
  EXPECT_EQ(parse_seed("42"), 42u);
  EXPECT_EQ(parse_seed("0x2A"), 42u);
  EXPECT_EQ(parse_seed("0xffffffffffffffff"), ~std::uint64_t{0});
  EXPECT_EQ(parse_seed("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_EQ(parse_seed("da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            parse_seed("DA39A3EE5E6B4B0D3255BFEF95601890AFD80709"));
  EXPECT_NE(parse_seed("da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            parse_seed("da39a3ee5e6b4b0d3255bfef95601890afd8070a"));
}

TEST(Seeds, OfOtherFormsAreRefused) {
  for (const char* text :
       {"", "0x", "x2a", "2a", "-1", "+1", " 1", "1 ", "0x1g", "0x10000000000000000",
        "18446744073709551616", "da39a3ee5e6b4b0d3255bfef95601890afd8070",
        "da39a3ee5e6b4b0d3255bfef95601890afd807090"}) {
    EXPECT_THROW(static_cast<void>(parse_seed(text)), UsageError) << text;
  }
}

TEST(Seeds, AreWrittenAsTheyAreRead) {
  for (const std::uint64_t seed : {0ull, 1ull, 42ull, ~0ull}) {
    EXPECT_EQ(parse_seed(seed_text(seed)), seed);
  }
}

TEST(Seeds, OfTheFirstRunAreTheBase) {
  EXPECT_EQ(run_seed(77, 0), 77u);
  EXPECT_NE(run_seed(77, 1), run_seed(77, 2));
  EXPECT_NE(run_seed(77, 1), run_seed(78, 1));
}

}  // namespace
}  // namespace fermata::sim
