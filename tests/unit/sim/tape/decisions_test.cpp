// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/tape/decisions.hpp"
#include "fermata/sim/strategy/make_strategy.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace fermata::sim {
namespace {

constexpr std::uint64_t kReader = 11;
constexpr std::uint64_t kWriter = 22;
constexpr std::array<std::uint64_t, 2> kBoth = {kReader, kWriter};

constexpr auto kTell = [](const Decision& decision) {
  return "a message is delayed by " + std::to_string(decision.value) + " ms";
};

/// Answers everything with 1.
class Contrary final : public Strategy {
 public:
  std::string name() const override { return "contrary"; }
  void begin_run(std::uint64_t) override {}
  std::size_t pick(const Candidates&) override { return 1; }
  std::uint64_t draw(backend::RandomStream, std::uint64_t, std::uint64_t) override { return 1; }
  std::uint64_t draw_rarely(backend::RandomStream, std::uint64_t, std::uint64_t, Odds) override {
    return 1;
  }
};

std::vector<Decision> copy_of(const Decisions& decisions) {
  return {decisions.log().recorded().begin(), decisions.log().recorded().end()};
}

TEST(Decisions, RecordThePathOfTheCoroutineThatWasChosen) {
  Contrary strategy;
  Decisions decisions(strategy);
  decisions.begin(1);
  EXPECT_EQ(decisions.pick(Candidates(kBoth)), 1u);
  ASSERT_EQ(decisions.log().recorded().size(), 1u);
  const Decision& decision = decisions.log().recorded().front();
  EXPECT_TRUE(decision.is_pick);
  EXPECT_EQ(decision.value, kWriter);
  EXPECT_EQ(decision.subject, kReader);
}

TEST(Decisions, DoNotRecordCalmAnswers) {
  const auto strategy = make_strategy("calm");
  Decisions decisions(*strategy);
  decisions.begin(1);
  decisions.pick(Candidates(kBoth));
  decisions.draw(backend::RandomStream::Network, key_of("latency"), 100, kTell);
  EXPECT_EQ(
      decisions.draw_rarely(backend::RandomStream::Fault, key_of("reset"), 2, Odds{1, 1}, kTell),
      0u);
  EXPECT_TRUE(decisions.log().recorded().empty());
  EXPECT_EQ(decisions.log().draws(), 3u);
}

TEST(Decisions, GiveEveryDrawAKeyOfItsOwn) {
  Contrary strategy;
  Decisions decisions(strategy);
  decisions.begin(1);
  decisions.draw(backend::RandomStream::Network, key_of("loss"), 10, kTell);
  decisions.draw(backend::RandomStream::Network, key_of("loss"), 10, kTell);
  decisions.draw(backend::RandomStream::Time, key_of("loss"), 10, kTell);
  decisions.pick(Candidates(kBoth));
  decisions.pick(Candidates(kBoth));
  for (const Decision& a : decisions.log().recorded()) {
    for (const Decision& b : decisions.log().recorded()) {
      if (&a != &b) {
        EXPECT_NE(a.key, b.key);
      }
    }
  }
}

TEST(Decisions, GiveKeysThatOtherDrawsDoNotChange) {
  Contrary strategy;
  Decisions decisions(strategy);
  decisions.begin(1);
  decisions.draw(backend::RandomStream::Network, key_of("loss"), 10, kTell);
  const std::uint64_t alone = decisions.log().recorded().back().key;
  decisions.begin(1);
  decisions.draw(backend::RandomStream::Network, key_of("latency"), 10, kTell);
  decisions.pick(Candidates(kBoth));
  decisions.draw(backend::RandomStream::Network, key_of("loss"), 10, kTell);
  EXPECT_EQ(decisions.log().recorded().back().key, alone);
}

TEST(Decisions, NeverLetOneStreamShiftAnother) {
  const auto strategy = make_strategy("random");
  Decisions decisions(*strategy);
  const auto network = [&](bool with_time) {
    decisions.begin(7);
    std::vector<std::uint64_t> values;
    for (int i = 0; i < 100; ++i) {
      if (with_time) decisions.draw(backend::RandomStream::Time, key_of("late"), 1'000, kTell);
      values.push_back(
          decisions.draw(backend::RandomStream::Network, key_of("latency"), 1'000'000, kTell));
    }
    return values;
  };
  EXPECT_EQ(network(false), network(true));
}

TEST(Decisions, BeginEveryRunAfresh) {
  const auto strategy = make_strategy("random");
  Decisions decisions(*strategy);
  const auto run = [&](std::uint64_t seed) {
    decisions.begin(seed);
    const std::uint64_t path = decisions.spawn_path(0, "main");
    for (int i = 0; i < 50; ++i) {
      decisions.pick(Candidates(kBoth));
      decisions.draw(backend::RandomStream::Fault, path, 3, kTell);
    }
    return copy_of(decisions);
  };
  const std::vector<Decision> first = run(5);
  EXPECT_NE(run(6), first);
  EXPECT_EQ(run(5), first);
}

TEST(Decisions, TellSiblingsOfTheSameNameApart) {
  const auto strategy = make_strategy("fifo");
  Decisions decisions(*strategy);
  decisions.begin(1);
  const std::uint64_t first = decisions.spawn_path(1, "worker");
  const std::uint64_t second = decisions.spawn_path(1, "worker");
  EXPECT_NE(first, second);
  decisions.begin(1);
  decisions.spawn_path(2, "worker");
  decisions.spawn_path(1, "other");
  EXPECT_EQ(decisions.spawn_path(1, "worker"), first);
  EXPECT_EQ(decisions.spawn_path(1, "worker"), second);
}

TEST(Decisions, RememberWhereCoroutinesComeFromUnderAnyName) {
  const auto strategy = make_strategy("fifo");
  Decisions decisions(*strategy);
  decisions.names().set_wanted(true);
  decisions.begin(1);
  const std::uint64_t main = decisions.spawn_path(0, "main");
  decisions.spawn_path(main, "reader");
  const std::uint64_t writer = decisions.spawn_path(main, "writer");
  EXPECT_EQ(decisions.names().origins().at(writer), (Origin{main, 1}));
  decisions.begin(1);
  EXPECT_TRUE(decisions.names().origins().empty());
}

TEST(Decisions, KnowWhatCouldHaveTakenThePlaceOfCalmOnes) {
  const auto strategy = make_strategy("calm");
  Decisions decisions(*strategy);
  decisions.names().set_wanted(true);
  decisions.begin(1);
  decisions.draw(backend::RandomStream::Network, key_of("latency"), 10, kTell);
  decisions.pick(Candidates(kBoth));
  decisions.draw({.key = key_of("number"), .bound = 3});
  decisions.draw({.key = key_of("larger number"), .bound = 100});
  std::vector<std::uint64_t> values;
  for (const Decision& each : decisions.log().alternatives()) values.push_back(each.value);
  EXPECT_EQ(values, (std::vector<std::uint64_t>{kBoth[1], 1, 2, 1, 2, 3, 4, 5, 6, 7, 50, 99}));
  const Decision& pick = decisions.log().alternatives().front();
  EXPECT_TRUE(pick.is_pick);
  EXPECT_EQ(pick.subject, kBoth[0]);
  EXPECT_EQ(pick.index, 1u);
}

TEST(Decisions, TellEachThatIsNotCalmAtOnce) {
  struct Listener final : DecisionListener {
    std::vector<Decision> heard;
    void decided(const Decision& decision) override { heard.push_back(decision); }
  } listener;
  Contrary strategy;
  Decisions decisions(strategy);
  decisions.log().set_listener(&listener);
  decisions.begin(1);
  decisions.pick(Candidates(kBoth));
  decisions.draw(backend::RandomStream::Network, key_of("loss"), 10, kTell);
  EXPECT_EQ(listener.heard, copy_of(decisions));
  EXPECT_EQ(listener.heard.size(), 2u);
}

TEST(Decisions, KeepNamesOnlyWhenSomebodyReadsThem) {
  const auto strategy = make_strategy("fifo");
  Decisions decisions(*strategy);
  decisions.begin(1);
  decisions.spawn_path(0, "silent");
  EXPECT_TRUE(decisions.names().all().empty());
  decisions.names().set_wanted(true);
  decisions.begin(1);
  decisions.spawn_path(1, "worker");
  EXPECT_EQ(coroutine_name(decisions.spawn_path(1, "worker"), decisions.names().all()),
            "'worker #2'");
}

TEST(Decisions, CountNamesakesOfOneProgramWhoeverSpawnsThem) {
  const auto strategy = make_strategy("fifo");
  Decisions decisions(*strategy);
  decisions.names().set_wanted(true);
  decisions.begin(1);
  const auto main = decisions.spawn_path(1, "main");
  const auto other = decisions.spawn_path(2, "main");
  const auto boss = decisions.spawn_path(main, "boss");
  decisions.spawn_path(main, "worker");
  const auto name = [&](std::uint64_t path) {
    return coroutine_name(path, decisions.names().all());
  };
  EXPECT_EQ(name(decisions.spawn_path(boss, "worker")), "'worker #2'");
  EXPECT_EQ(name(decisions.spawn_path(other, "worker")), "'worker'");
}

TEST(Decisions, TellInASentenceWhatIsNotCalmOnlyWhenSomebodyReadsIt) {
  Contrary strategy;
  Decisions decisions(strategy);
  int told = 0;
  const auto tell = [&](const Decision& decision) {
    ++told;
    return kTell(decision);
  };
  decisions.begin(1);
  decisions.draw(backend::RandomStream::Network, key_of("delay"), 10, tell);
  EXPECT_EQ(told, 0);
  EXPECT_EQ(decisions.last_told(), 0u);
  decisions.names().set_wanted(true);
  decisions.begin(1);
  decisions.draw(backend::RandomStream::Network, key_of("delay"), 10, tell);
  EXPECT_EQ(told, 1);
  const Decision& decision = decisions.log().recorded().front();
  EXPECT_EQ(decisions.last_told(), decision.key);
  EXPECT_EQ(describe(decision, decisions.names().all()), "a message is delayed by 1 ms");
}

TEST(Decisions, SayNothingOfCalmAnswers) {
  const auto strategy = make_strategy("calm");
  Decisions decisions(*strategy);
  decisions.names().set_wanted(true);
  decisions.begin(1);
  decisions.draw(backend::RandomStream::Network, key_of("delay"), 10,
                 [](const Decision&) -> std::string {
                   ADD_FAILURE() << "calm";
                   return {};
                 });
  EXPECT_EQ(decisions.last_told(), 0u);
  EXPECT_TRUE(decisions.names().all().empty());
}

TEST(Decisions, TakeABetterSentenceWhenMoreIsKnown) {
  Contrary strategy;
  Decisions decisions(strategy);
  decisions.names().set_wanted(true);
  decisions.begin(1);
  decisions.draw(backend::RandomStream::Fault, key_of("crash"), 10, kTell);
  const std::uint64_t told = decisions.last_told();
  decisions.draw(backend::RandomStream::Network, key_of("delay"), 10, kTell);
  decisions.tell_later(told, [] { return "'desk' crashes"; });
  EXPECT_EQ(describe(decisions.log().recorded().front(), decisions.names().all()),
            "'desk' crashes");
  EXPECT_EQ(decisions.last_sentence(), "a message is delayed by 1 ms");
}

TEST(Decisions, GoWithoutSayingWhenTheirSentenceIsEmpty) {
  Contrary strategy;
  Decisions decisions(strategy);
  decisions.names().set_wanted(true);
  decisions.begin(1);
  decisions.draw(backend::RandomStream::Fault, key_of("present"), 2,
                 [](const Decision&) { return ""; });
  decisions.draw(backend::RandomStream::Fault, key_of("reset"), 2, kTell);
  const auto recorded = decisions.log().recorded();
  EXPECT_TRUE(goes_without_saying(recorded[0], decisions.names().all()));
  EXPECT_FALSE(goes_without_saying(recorded[1], decisions.names().all()));
}

TEST(Decisions, HaveAPlainSentenceWhenNobodyToldThem) {
  Contrary strategy;
  Decisions decisions(strategy);
  decisions.begin(1);
  decisions.draw(backend::RandomStream::Network, key_of("delay"), 10, kTell);
  decisions.pick(Candidates(kBoth));
  const auto recorded = decisions.log().recorded();
  EXPECT_EQ(describe(recorded[0], {}), "a draw of 'network' gives 1 of 10");
  EXPECT_EQ(describe(recorded[1], {}), "an unnamed coroutine runs before an unnamed coroutine");
}

TEST(Decisions, SayWhereTheProgramHasDrawnANumber) {
  Contrary strategy;
  Decisions decisions(strategy);
  decisions.names().set_wanted(true);
  decisions.begin(1);
  decisions.draw({.key = 1, .bound = 6, .place = {.file = "src/main.cpp", .line = 31}});
  EXPECT_EQ(decisions.last_sentence(), "random() gives 1 of 6 (main.cpp:31)");
  decisions.draw({.key = 1, .bound = 3, .what = backend::ProgramDraw::What::Tie});
  EXPECT_EQ(decisions.last_sentence(),
            "of 3 callbacks that are due at once the 2nd is called first");
}

// A program of two coroutines and a link, as far as the chooser can see.
struct Program {
  int draws = 3;

  std::vector<std::uint64_t> run(Decisions& decisions) const {
    std::vector<std::uint64_t> answers;
    for (int i = 0; i < draws; ++i) {
      answers.push_back(decisions.pick(Candidates(kBoth)));
      answers.push_back(
          decisions.draw(backend::RandomStream::Network, key_of("latency"), 10, kTell));
      answers.push_back(decisions.draw_rarely(backend::RandomStream::Fault, key_of("reset"), 4,
                                              Odds{1, 2}, kTell));
    }
    decisions.end();
    return answers;
  }
};

Replay recorded_replay(const Decisions& decisions, ReplayMode mode) {
  return Replay(copy_of(decisions), decisions.log().draws(), decisions.names().all(), mode);
}

TEST(Replay, GivesTheSameAnswersAgain) {
  const auto strategy = make_strategy("random");
  Decisions decisions(*strategy);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    decisions.begin(seed);
    const auto answers = Program{20}.run(decisions);
    const auto tape = copy_of(decisions);
    for (const ReplayMode mode : {ReplayMode::Strict, ReplayMode::Best}) {
      Replay replay(tape, decisions.log().draws(), {}, mode);
      decisions.begin_replay(replay);
      EXPECT_EQ(Program{20}.run(decisions), answers);
      EXPECT_EQ(copy_of(decisions), tape);
      EXPECT_FALSE(replay.divergence());
      EXPECT_EQ(replay.matched(), tape.size());
    }
  }
}

TEST(Replay, ReportsTheFirstDivergenceWhenStrict) {
  Contrary strategy;
  Decisions decisions(strategy);
  decisions.begin(1);
  decisions.draw(backend::RandomStream::Network, key_of("latency"), 10, kTell);
  decisions.draw(backend::RandomStream::Network, key_of("loss"), 10, kTell);
  Replay replay = recorded_replay(decisions, ReplayMode::Strict);

  decisions.begin_replay(replay);
  EXPECT_EQ(decisions.draw(backend::RandomStream::Network, key_of("latency"), 10, kTell), 1u);
  EXPECT_EQ(decisions.draw(backend::RandomStream::Time, key_of("late"), 7, kTell), 0u);
  EXPECT_EQ(decisions.draw(backend::RandomStream::Network, key_of("loss"), 10, kTell), 0u);
  decisions.end();
  ASSERT_TRUE(replay.divergence());
  EXPECT_EQ(replay.divergence()->expected, "draw 1 (a draw of 'network' gives 1 of 10)");
  EXPECT_EQ(replay.divergence()->got, "draw 1 (time, one of 7)");
}

TEST(Replay, TellsOfTheDrawThatDivergesWhatItCouldHaveDone) {
  Contrary strategy;
  Decisions decisions(strategy);
  decisions.begin(1);
  decisions.draw(backend::RandomStream::Network, key_of("latency"), 10, kTell);
  Replay replay = recorded_replay(decisions, ReplayMode::Strict);

  decisions.names().set_wanted(true);
  decisions.begin_replay(replay);
  decisions.draw(backend::RandomStream::Time, key_of("late"), 7, kTell);
  ASSERT_TRUE(replay.divergence());
  EXPECT_EQ(replay.divergence()->got,
            "draw 0 (time, one of 7), such as: a message is delayed by 1 ms");
}

TEST(Replay, DivergesAtAValueThatTheDrawCannotHave) {
  Contrary strategy;
  Decisions decisions(strategy);
  decisions.begin(1);
  decisions.draw(backend::RandomStream::Network, key_of("loss"), 10, kTell);
  std::vector<Decision> tape = copy_of(decisions);
  tape.front().value = 10;
  Replay replay(tape, 1, {}, ReplayMode::Strict);

  decisions.begin_replay(replay);
  EXPECT_EQ(decisions.draw(backend::RandomStream::Network, key_of("loss"), 10, kTell), 0u);
  EXPECT_TRUE(replay.divergence());
  EXPECT_EQ(replay.matched(), 0u);
}

TEST(Replay, DivergesAtACoroutineThatIsNoCandidate) {
  Contrary strategy;
  Decisions decisions(strategy);
  decisions.begin(1);
  decisions.pick(Candidates(kBoth));
  Replay replay = recorded_replay(decisions, ReplayMode::Strict);

  decisions.begin_replay(replay);
  constexpr std::array<std::uint64_t, 2> kOthers = {kReader, 33};
  EXPECT_EQ(decisions.pick(Candidates(kOthers)), 0u);
  ASSERT_TRUE(replay.divergence());
  EXPECT_NE(replay.divergence()->got.find("an unnamed coroutine is not a candidate"),
            std::string::npos)
      << replay.divergence()->text();
}

TEST(Replay, DivergesWhenTheRunEndsTooEarlyOrTooLate) {
  Contrary strategy;
  Decisions decisions(strategy);
  decisions.begin(1);
  Program{3}.run(decisions);
  Replay replay = recorded_replay(decisions, ReplayMode::Strict);

  decisions.begin_replay(replay);
  Program{2}.run(decisions);
  ASSERT_TRUE(replay.divergence());
  EXPECT_EQ(replay.divergence()->got, "the end of the run after 6 draws");

  decisions.begin_replay(replay);
  Program{4}.run(decisions);
  ASSERT_TRUE(replay.divergence());
  EXPECT_EQ(replay.divergence()->expected, "the end of the run after 9 draws");
}

TEST(Replay, TakesWhatMatchesWhenBest) {
  Contrary strategy;
  Decisions decisions(strategy);
  decisions.begin(1);
  decisions.draw(backend::RandomStream::Network, key_of("latency"), 10, kTell);
  decisions.draw(backend::RandomStream::Network, key_of("loss"), 10, kTell);
  decisions.draw(backend::RandomStream::Network, key_of("loss"), 10, kTell);
  Replay replay = recorded_replay(decisions, ReplayMode::Best);

  decisions.begin_replay(replay);
  EXPECT_EQ(decisions.draw(backend::RandomStream::Time, key_of("new"), 10, kTell), 0u);
  EXPECT_EQ(decisions.draw(backend::RandomStream::Network, key_of("loss"), 10, kTell), 1u);
  EXPECT_EQ(decisions.draw(backend::RandomStream::Network, key_of("latency"), 10, kTell), 1u);
  decisions.end();
  EXPECT_EQ(replay.summary(), "2 of 3 decisions matched");
  EXPECT_FALSE(replay.divergence());
}

TEST(Replay, CountsTheDecisionsThatReportsShow) {
  Contrary strategy;
  Decisions decisions(strategy);
  decisions.names().set_wanted(true);
  const auto unsaid = [](const Decision&) { return std::string(); };
  for (const ReplayMode mode : {ReplayMode::Strict, ReplayMode::Best}) {
    decisions.begin(1);
    decisions.draw(backend::RandomStream::Fault, key_of("crashes"), 2, unsaid);
    decisions.draw(backend::RandomStream::Network, key_of("latency"), 10, kTell);
    Replay replay = recorded_replay(decisions, mode);

    decisions.begin_replay(replay);
    EXPECT_EQ(decisions.draw(backend::RandomStream::Fault, key_of("crashes"), 2, unsaid), 1u);
    EXPECT_EQ(replay.summary(), "0 of 1 decisions matched");
    EXPECT_EQ(decisions.draw(backend::RandomStream::Network, key_of("latency"), 10, kTell), 1u);
    decisions.end();
    EXPECT_EQ(replay.summary(), "1 of 1 decisions matched");
    EXPECT_EQ(replay.matched(), 1u);
    EXPECT_FALSE(replay.divergence());
  }
}

TEST(Replay, GrantsAWishOnceAndNotBeforeItsTime) {
  const auto strategy = make_strategy("calm");
  Decisions decisions(*strategy);
  Replay replay({}, 0, {}, ReplayMode::Best);
  replay.set_wishes({Wish{kWriter, 2}});
  for (int run = 0; run < 2; ++run) {
    decisions.begin_replay(replay);
    std::vector<std::size_t> picks;
    for (int i = 0; i < 5; ++i) picks.push_back(decisions.pick(Candidates(kBoth)));
    EXPECT_EQ(picks, (std::vector<std::size_t>{0, 0, 1, 0, 0}));
  }
}

TEST(Replay, LeavesTheRestToTheStrategy) {
  Contrary strategy;
  Decisions decisions(strategy);
  Replay replay({}, 0, {}, ReplayMode::Best);
  decisions.begin_replay(replay, 3, 7);
  std::vector<std::uint64_t> answers;
  for (int i = 0; i < 5; ++i) {
    answers.push_back(decisions.draw(backend::RandomStream::Network, key_of("loss"), 10, kTell));
  }
  EXPECT_EQ(answers, (std::vector<std::uint64_t>{0, 0, 0, 1, 1}));
  EXPECT_FALSE(replay.divergence());
}

}  // namespace
}  // namespace fermata::sim
