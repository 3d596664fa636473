// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/tape/tape.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "fermata/sim/base/key.hpp"
#include "tests/support/error_of.hpp"

namespace fermata::sim {
namespace {

using test::error_of;

const std::uint64_t kLoss = key_of(topic_of_draw(backend::RandomStream::Network, 3), 0);

Tape example() {
  Tape tape;
  tape.test = "Account.DepositsAreNotLost";
  tape.program = "./build/account test";
  tape.seed = 0xfeedface12345678;
  tape.strategy = "pct:3:k=57";
  tape.faults = "short-read,reset";
  tape.limits.time = std::chrono::hours(24);
  tape.limits.steps = 1'000'000;
  tape.limits.steps_at_instant = 500'000;
  tape.rapidcheck = "reproduce=BkSRdSLcvBjY";
  tape.signature = "safety: Expected # to be #";
  tape.trace_hash = 0xdeadbeef;
  tape.draws = 9;
  tape.names = {{1, "reader"}, {2, "writer"}, {kLoss, "the 1st datagram n1 -> n2 is lost"}};
  tape.origins = {{1, {9, 4}}, {2, {9, 5}}, {9, {0, 0}}};
  tape.decisions = {
      {.index = 3,
       .key = key_of(topic_of_pick(1), 6),
       .bound = 2,
       .value = 2,
       .subject = 1,
       .occurrence = 6,
       .at = Instant{12'000'000},
       .is_pick = true},
      {.index = 8,
       .key = kLoss,
       .bound = 10,
       .value = 4,
       .subject = 3,
       .at = Instant{12'000'001},
       .stream = backend::RandomStream::Network},
  };
  return tape;
}

std::string parse_error(const std::string& text) {
  return error_of([&] { static_cast<void>(parse_tape(text, "run.tape")); });
}

TEST(Tape, ReadsBackWhatItWrote) {
  const Tape tape = parse_tape(to_text(example()), "run.tape");
  EXPECT_EQ(tape.test, "Account.DepositsAreNotLost");
  EXPECT_EQ(tape.program, "./build/account test");
  EXPECT_EQ(tape.seed, 0xfeedface12345678u);
  EXPECT_EQ(tape.strategy, "pct:3:k=57");
  EXPECT_EQ(tape.faults, "short-read,reset");
  EXPECT_EQ(tape.limits.time, std::chrono::hours(24));
  EXPECT_EQ(tape.limits.steps, 1'000'000u);
  EXPECT_EQ(tape.limits.steps_at_instant, 500'000u);
  EXPECT_EQ(tape.rapidcheck, "reproduce=BkSRdSLcvBjY");
  EXPECT_EQ(tape.signature, "safety: Expected # to be #");
  EXPECT_EQ(tape.trace_hash, 0xdeadbeefu);
  EXPECT_EQ(tape.draws, 9u);
  EXPECT_EQ(tape.names, example().names);
  EXPECT_EQ(tape.origins, example().origins);
  EXPECT_EQ(tape.decisions, example().decisions);
}

TEST(Tape, IsReadableByPeople) {
  const std::string text = to_text(example());
  EXPECT_NE(text.find("# +12 ms 'writer' runs before 'reader'\n"), std::string::npos) << text;
  EXPECT_NE(text.find("# +12.000001 ms the 1st datagram n1 -> n2 is lost\n"), std::string::npos)
      << text;
}

TEST(Tape, CutAnywhereIsRefused) {
  const std::string text = to_text(example());
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_THROW(static_cast<void>(parse_tape(text.substr(0, length), "run.tape")), TapeError)
        << length;
  }
}

TEST(Tape, NamesOnlyWhatItsDecisionsSpeakOf) {
  Tape tape = example();
  const KeyNames names = {{1, "reader"}, {2, "writer"}, {9, "main"}, {10, "bystander"}};
  const Origins origins = {{1, {9, 4}}, {2, {9, 5}}, {9, {0, 0}}, {10, {9, 6}}};
  set_names(tape, names, origins);
  EXPECT_EQ(tape.names, (KeyNames{{1, "reader"}, {2, "writer"}}));
  EXPECT_EQ(tape.origins, (Origins{{1, {9, 4}}, {2, {9, 5}}, {9, {0, 0}}}));
}

TEST(Tape, CountsWhatReportsShow) {
  Tape tape = example();
  EXPECT_EQ(count_shown(tape), 2u);
  tape.names[kLoss] = "";
  EXPECT_EQ(count_shown(tape), 1u);
  const Tape again = parse_tape(to_text(tape), "run.tape");
  EXPECT_EQ(count_shown(again), 1u);
  EXPECT_EQ(again.names, tape.names);
}

TEST(Tape, OfAnOlderBuildHasNoSentences) {
  Tape tape = example();
  tape.names.erase(kLoss);
  tape.names[3] = "n1->n2 loss";
  const Tape again = parse_tape(to_text(tape), "run.tape");
  EXPECT_EQ(again.decisions, tape.decisions);
  EXPECT_EQ(describe(again.decisions.back(), again.names), "a draw of 'network' gives 4 of 10");
}

TEST(Tape, CutInHalfSaysSo) {
  const std::string text = to_text(example());
  EXPECT_EQ(parse_error(text.substr(0, text.find("\npick") + 8)),
            "run.tape: the tape is cut off after line 19: its line 'end' is missing");
}

TEST(Tape, ChangedAnywhereIsRefused) {
  const std::string text = to_text(example());
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = changed[at] == '7' ? '8' : '7';
    if (changed == text) continue;
    EXPECT_THROW(static_cast<void>(parse_tape(changed, "run.tape")), TapeError) << changed;
  }
}

TEST(Tape, DamageIsNamed) {
  const std::string text = to_text(example());
  std::string changed = text;
  changed.replace(changed.find("seed 0xfeed"), 11, "seed 0xbeef");
  EXPECT_EQ(parse_error(changed), "run.tape: the tape is damaged: its checksum does not match");
  EXPECT_EQ(parse_error("hello\n"), "run.tape:1: expected the line 'fermata-tape 2'");
  EXPECT_EQ(parse_error("fermata-tape 1\n"),
            "run.tape: tape format 1 is unknown; this build reads format 2");
  EXPECT_EQ(parse_error("fermata-tape 2\nseed twelve\n"),
            "run.tape:2: expected a number, not 'twelve'");
  EXPECT_EQ(parse_error("fermata-tape 2\nsplice 3\n"),
            "run.tape:2: expected a field of a tape, not 'splice'");
  EXPECT_EQ(parse_error("fermata-tape 2\ndraw 1 luck 2 3 4 5 6\n"),
            "run.tape:2: expected a stream, not 'luck'");
  EXPECT_EQ(parse_error("fermata-tape 2\npick 1 2 4294967296 3 4 5\n"),
            "run.tape:2: expected a number below 2^32, not 4294967296");
  EXPECT_EQ(parse_error(text + "more\n"), "run.tape:22: expected nothing after the line 'end'");
}

TEST(Tape, GoesThroughAFile) {
  const std::string path = ::testing::TempDir() + "fermata_tape_test/deep/run.tape";
  save_tape(example(), path);
  EXPECT_EQ(to_text(load_tape(path)), to_text(example()));
  std::filesystem::remove_all(::testing::TempDir() + "fermata_tape_test");
  EXPECT_EQ(error_of([&] { static_cast<void>(load_tape(path)); }),
            "cannot read the tape " + path + ": No such file or directory");
}

TEST(Key, IsTheSameForEver) {
  EXPECT_EQ(key_of(""), 0u);
  EXPECT_EQ(key_of("schedule"), key_of(8, 0x656c756465686373));
  EXPECT_EQ(key_of(1, 2), 0x860f92d16a5a7f91u);
}

TEST(Key, DependsOnEveryLetterAndOnTheLength) {
  EXPECT_NE(key_of("reader"), key_of("readers"));
  EXPECT_NE(key_of("reader"), key_of("Reader"));
  EXPECT_NE(key_of(std::string_view("a\0", 2)), key_of("a"));
  EXPECT_NE(key_of(1, 2), key_of(2, 1));
}

}  // namespace
}  // namespace fermata::sim
