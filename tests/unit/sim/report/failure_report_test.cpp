// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/failure_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "fermata/sim/record/shrunk.hpp"

namespace fermata::sim {
namespace {

/// A tape of decisions with the keys 1, 2, ... that do what `sentences` say.
Tape tape_of(const std::vector<std::string>& sentences) {
  Tape tape;
  for (const std::string& sentence : sentences) {
    const std::uint64_t key = tape.decisions.size() + 1;
    tape.decisions.push_back({.index = key, .key = key, .bound = 2, .value = 1});
    tape.names.emplace(key, sentence);
  }
  return tape;
}

TEST(DecisionsText, HasALineForEachThatDoesNotGoWithoutSaying) {
  EXPECT_EQ(decisions_text(tape_of({"", "the 1st connection main -> server, port 80 is reset"})),
            "fails with production's choices except:\n"
            "  +0 ms the 1st connection main -> server, port 80 is reset\n");
}

TEST(DecisionsText, SaysSoWhenThereAreNone) {
  EXPECT_EQ(decisions_text(tape_of({})),
            "fails with production's choices: it takes no fault and no other order\n");
}

TEST(DecisionsText, SaysSoWhenFaultsCouldStrikeAndDidNot) {
  EXPECT_EQ(decisions_text(tape_of({"", ""})),
            "fails with production's choices except:\n"
            "  nothing: faults could strike in this run, and none did\n");
}

TEST(DecisionsText, CountsOfALongTapeWhatItLeavesOut) {
  std::vector<std::string> sentences(25, "a step of 'main' takes 2 ms");
  sentences.emplace_back();
  const std::string text = decisions_text(tape_of(sentences));
  EXPECT_TRUE(text.ends_with("\n  and 20 more, on the tape\n")) << text;
}

TEST(DecisionsText, ShowsOfALongTapeWhatDecidesAndFaultsFirst) {
  Tape tape = tape_of(std::vector<std::string>(20, "random() in 'main' gives 1 of 2"));
  for (Decision& decision : tape.decisions) decision.stream = backend::RandomStream::Workload;
  tape.decisions[10].stream = backend::RandomStream::Fault;
  tape.names[11] = "'desk' crashes at +0.4 ms";
  tape.names[20] = "random() in 'main' gives 0 of 2";
  const std::string text = decisions_text(tape, false, 19);
  EXPECT_NE(text.find("'desk' crashes"), std::string::npos) << text;
  EXPECT_NE(text.find("gives 0 of 2"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 7) << text;
}

/// The lines of the report of a failure with a long explanation and much output.
std::size_t lines_of_long_report(bool all_lines) {
  FoundFailure found;
  found.failure.message = "as planned";
  for (int i = 0; i < 200; ++i) found.failure.explanation += "an operation\n";
  for (int i = 0; i < 200; ++i) found.output += "a line\n";
  ReportContext context;
  context.all_lines = all_lines;
  const std::string report = failure_report(found, context);
  return static_cast<std::size_t>(std::count(report.begin(), report.end(), '\n'));
}

TEST(FailureReport, HasAboutEightyLines) {
  EXPECT_LE(lines_of_long_report(false), 90u);  // The last section has at least ten.
  EXPECT_GT(lines_of_long_report(true), 400u);
}

TEST(FailureReport, HasTheOddsOfFaultsOnlyWithAllLines) {
  FoundFailure found;
  found.failure.message = "as planned";
  found.faults = "reset, 1 in 100: struck 2 times\n";
  ReportContext context;
  EXPECT_EQ(failure_report(found, context).find("1 in 100"), std::string::npos);
  context.all_lines = true;
  EXPECT_NE(failure_report(found, context).find("1 in 100"), std::string::npos);
}

TEST(Shrunk, CountsWhatReportsShow) {
  Shrunk shrunk;
  shrunk.found.tape = tape_of({"", "'desk' crashes at +0.4 ms"});
  shrunk.decisions_before = 5;
  shrunk.runs = 11;
  shrunk.minimal = true;
  EXPECT_EQ(shrunk.summary(), "shrunk: 5 decisions -> 1 (11 runs)");
}

}  // namespace
}  // namespace fermata::sim
