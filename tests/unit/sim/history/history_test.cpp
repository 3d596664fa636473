// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/history/history.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fermata/runtime.hpp"
#include "fermata/sim/run/explore.hpp"
#include "tests/support/recorded_history.hpp"

namespace fermata::sim {
namespace {

using namespace models;
using namespace std::chrono_literals;

using IntRegister = Register<int>;
using Numbers = std::vector<std::size_t>;

ExploreOptions runs(std::uint64_t count) {
  ExploreOptions options;
  options.name = "History.Test";
  options.runs = count;
  options.faults = "none";
  return options;
}

TEST(History, OfNoRunCannotFailOne) {
  History<IntRegister> history("register");
  history.invoke("Bob", Read{}).responds(7);
  EXPECT_THROW(history.expect_linearizable(), UsageError);
}

TEST(History, IsLinearizableWhenAnOrderExplainsIt) {
  History<IntRegister> history("register");
  const auto write = history.invoke("Ada", Write{3});
  history.invoke("Bob", Read{}).responds(0);
  history.invoke("Bob", Read{}).responds(3);
  write.responds();
  EXPECT_EQ(history.check().answer, Linearizability::Yes);
  history.invoke("Bob", Read{}).responds(0);
  EXPECT_EQ(history.check().answer, Linearizability::No);
}

TEST(History, AnOperationWithoutAResponseMayTakeEffectLaterOrNever) {
  History<IntRegister> history("register");
  (void)history.invoke("Ada", Write{3});
  history.invoke("Bob", Read{}).responds(0);
  EXPECT_EQ(history.check().answer, Linearizability::Yes);
  history.invoke("Bob", Read{}).responds(3);
  EXPECT_EQ(history.check().answer, Linearizability::Yes);
  history.invoke("Bob", Read{}).responds(0);
  EXPECT_EQ(history.check().answer, Linearizability::No);
}

TEST(History, WhatDidNotHappenIsNoPartOfIt) {
  History<IntRegister> history("register");
  history.invoke("Ada", Write{3}).did_not_happen();
  history.invoke("Bob", Read{}).responds(3);
  EXPECT_EQ(history.check().answer, Linearizability::No);
}

TEST(History, RefusesASecondEnd) {
  History<IntRegister> history("register");
  const auto write = history.invoke("Ada", Write{3});
  write.responds();
  try {
    write.responds();
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "history 'register': write(3) of 'Ada' has ended already");
  }
  EXPECT_THROW(write.did_not_happen(), UsageError);
}

TEST(History, CallRecordsWhatItsActionReturns) {
  History<IntRegister> history("register");
  history.call("Ada", Write{3}, [] {});
  EXPECT_EQ(history.call("Ada", Read{}, [] { return 3; }), 3);
  EXPECT_TRUE(history.call("Ada", CompareAndSet{3, 4}, [] { return true; }));
  EXPECT_EQ(history.check().answer, Linearizability::Yes);
  const auto fails = [] { throw Timeout("slow"); };
  EXPECT_THROW(history.call("Ada", Write{5}, fails), Timeout);
  history.invoke("Ada", Read{}).responds(4);
  history.invoke("Ada", Read{}).responds(5);
  EXPECT_EQ(history.check().answer, Linearizability::Yes);
}

TEST(History, ShowsTheOperationsThatMatterAndNoOthers) {
  History<IntRegister> history("register");
  for (int i = 10; i < 20; ++i) {
    history.invoke("Eve", Write{i}).responds();
    history.invoke("Eve", Read{}).responds(i);
  }
  const auto first = history.invoke("Ada", Write{1});
  history.invoke("Bob", Read{}).responds(19);
  first.responds();
  history.invoke("Ada", Write{2}).responds();
  history.invoke("Bob", Read{}).responds(1);
  history.invoke("Eve", Read{}).responds(2);
  const HistoryVerdict verdict = history.check();
  EXPECT_EQ(verdict.counterexample, (Numbers{20, 22, 23}));
  EXPECT_EQ(verdict.unexplained, 23u);
  EXPECT_EQ(verdict.longest_order, (Numbers{20, 22}));
  EXPECT_EQ(history.text(verdict),
            "3 of 25 operations that no order explains:\n"
            "          time    step  Ada       Bob\n"
            "         +0 ms       0  write(1)\n"
            "         +0 ms       0    done\n"
            "         +0 ms       0  write(2)\n"
            "         +0 ms       0    done\n"
            "         +0 ms       0            read()\n"
            "         +0 ms       0              1 <--\n"
            "at best this is an order of them:\n"
            "  write(1) by 'Ada': done\n"
            "  write(2) by 'Ada': done\n"
            "which does not lead to\n"
            "  read() by 'Bob': 1\n");
}

TEST(History, NamesAWrongResponseAfterOneThatItsOperationExplains) {
  History<IntRegister> history("register");
  const auto swap = history.invoke("Ada", CompareAndSet{0, 3});
  history.invoke("Bob", Read{}).responds(3);
  swap.responds(false);
  const HistoryVerdict verdict = history.check();
  EXPECT_EQ(verdict.answer, Linearizability::No);
  EXPECT_EQ(verdict.unexplained, 0u);
  EXPECT_EQ(verdict.counterexample, Numbers{0});
}

TEST(History, IsToldAsJson) {
  History<Map<std::string, std::string>> history("map");
  (void)history.invoke("A\"da", Put<std::string, std::string>{"k", "v\n"});
  history.invoke("Bob", Get<std::string>{"k"}).responds(std::optional<std::string>("w"));
  EXPECT_EQ(history.json(history.check()),
            R"({"history":"map","answer":"not linearizable","configurations":2,)"
            R"("counterexample":[1],"unexplained":1,"longest_order":[],"operations":[)"
            R"_({"client":"A\"da","operation":"put(\"k\", \"v\n\")","result":null,)_"
            R"("happened":true,"invoked":{"ns":0,"step":0,"position":0},"responded":null},)"
            R"_({"client":"Bob","operation":"get(\"k\")","result":"\"w\"","happened":true,)_"
            R"("invoked":{"ns":0,"step":0,"position":1},)"
            R"("responded":{"ns":0,"step":0,"position":2}}]})");
}

TEST(History, PartitionsOfAMapDoNotSeeOneAnother) {
  History<Map<int, int>> history("map");
  for (int key = 0; key < 5; ++key) {
    history.invoke("Ada", Put<int, int>{key, key * 10}).responds();
  }
  history.invoke("Ada", Remove<int>{2}).responds(true);
  history.invoke("Bob", Get<int>{3}).responds(std::optional(30));
  EXPECT_EQ(history.check().answer, Linearizability::Yes);
  history.invoke("Bob", Get<int>{2}).responds(std::optional(20));
  EXPECT_EQ(history.check().counterexample, (Numbers{2, 5, 7}));
}

/// A smaller history is never one that could be explained.
TEST(History, CounterexamplesHaveNoExplanation) {
  test::SplitMix random(11);
  int spoilt = 0;
  for (int i = 0; i < 300; ++i) {
    test::Recorded<IntRegister> history = test::random_history<IntRegister>(
        random, 4, 30, 10, [](test::SplitMix& draw, std::size_t) -> IntRegister::Operation {
          if (draw.once_in(2)) return Read{};
          return Write{static_cast<int>(draw.below(4))};
        });
    for (auto& each : history) {
      if (each.result && std::holds_alternative<Read>(each.operation) && random.once_in(8)) {
        each.result = static_cast<int>(random.below(4));
      }
    }
    const HistoryVerdict verdict = test::judged<IntRegister>(history);
    if (verdict.answer != Linearizability::No) continue;
    ++spoilt;
    test::Recorded<IntRegister> kept;
    for (const std::size_t number : verdict.counterexample) kept.push_back(history[number]);
    EXPECT_FALSE(test::BruteForce<IntRegister>(kept).explains());
    EXPECT_LE(kept.size(), 12u);
  }
  EXPECT_GT(spoilt, 100);
}

/// Whether `order` explains operations of `history`, as far as they were over before `end`.
bool explains(const test::Recorded<IntRegister>& history, const Numbers& order, std::size_t end) {
  const IntRegister model;
  IntRegister::State state = model.initial();
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto& each = history[order[i]];
    for (std::size_t later = i + 1; later < order.size(); ++later) {
      if (history[order[later]].precedes(each)) return false;
    }
    const IntRegister::Result answer = model.step(state, each.operation);
    const bool is_over = each.result && each.responded < end;
    if (is_over && answer != *each.result) return false;
  }
  return true;
}

TEST(History, WhatComesBackHasTheResponseThatItHad) {
  test::SplitMix random(5);
  int spoilt = 0;
  for (int i = 0; i < 2'000; ++i) {
    test::Recorded<IntRegister> history = test::random_history<IntRegister>(
        random, 3, 8, 4, [](test::SplitMix& draw, std::size_t) -> IntRegister::Operation {
          const auto value = static_cast<int>(draw.below(2));
          if (draw.once_in(3)) return Read{};
          if (draw.once_in(2)) return Write{value};
          return CompareAndSet{value, 1 - value};
        });
    for (auto& each : history) {
      const bool swaps = std::holds_alternative<CompareAndSet<int>>(each.operation);
      if (each.result && swaps && random.once_in(3)) each.result = random.once_in(2);
    }
    const HistoryVerdict verdict = test::judged<IntRegister>(history);
    if (verdict.answer != Linearizability::No) continue;
    ++spoilt;
    const std::size_t end = history[*verdict.unexplained].responded;
    EXPECT_TRUE(explains(history, verdict.longest_order, end));
  }
  EXPECT_GT(spoilt, 100);
}

// --- in a run ---

/// A register on two machines: writes go to both, reads to either.
class Pair {
 public:
  explicit Pair(bool waits_for_copy) : waits_for_copy_(waits_for_copy) {}

  void write(int value) {
    const Mutex::Guard guard(writing_);
    auto copying = spawn("copy", [this, value] {
      delay(1ms);
      copy_ = value;
    });
    if (waits_for_copy_) await(copying);
    first_ = value;
    if (!waits_for_copy_) copying_.push_back(copying);
  }
  [[nodiscard]] int read_first() const { return first_; }
  [[nodiscard]] int read_copy() const { return copy_; }
  void settle() { when_all_settled(copying_); }

 private:
  bool waits_for_copy_;
  Mutex writing_;
  int first_ = 0;
  int copy_ = 0;
  std::vector<Coroutine<>> copying_;
};

/// Readers of both machines know what the others have seen.
ExploreResult explore_pair(bool waits_for_copy) {
  return explore(runs(500), [waits_for_copy](World& world) {
    Pair pair(waits_for_copy);
    History<IntRegister> history(world, "pair");
    const auto writer = spawn("writer", [&] {
      for (int value = 1; value <= 2; ++value) {
        history.call("writer", Write{value}, [&] { pair.write(value); });
        delay(2ms);
      }
    });
    const auto reader = spawn("reader", [&] {
      for (int i = 0; i < 4; ++i) {
        history.call("reader", Read{}, [&] {
          delay(Duration(fermata::random(1'500'000)));
          return waits_for_copy ? pair.read_first() : pair.read_copy();
        });
      }
    });
    await(writer);
    await(reader);
    pair.settle();
  });
}

TEST(History, FindsTheStaleReadOfAProgramThatAnswersTooEarly) {
  const ExploreResult result = explore_pair(false);
  ASSERT_TRUE(result.found);
  const Failure& failure = result.found->failure;
  EXPECT_EQ(failure.signature(), "safety: history 'pair' is not linearizable");
  EXPECT_NE(failure.explanation.find("<--"), std::string::npos);
  EXPECT_NE(failure.explanation.find("ms"), std::string::npos);
  EXPECT_TRUE(result.found->repeatable);
}

TEST(History, LetsTheProgramPassThatWaits) {
  const ExploreResult result = explore_pair(true);
  EXPECT_FALSE(result.found) << result.found->failure.explanation;
}

TEST(History, WhatACrashCutsOffMayHaveHappened) {
  const auto result = explore(runs(300), [](World& world) {
    int disk = 0;
    History<IntRegister> history(world, "disk");
    Node& machine = world.node("machine", [&] {
      for (int value = disk + 1; value < 4; ++value) {
        history.call("machine", Write{value}, [&] {
          delay(1ms);
          disk = value;
          delay(1ms);
        });
      }
    });
    const int last = static_cast<int>(fermata::random(6));
    world.at(last * 1ms, [&] {
      if (!machine.is_up()) return;
      machine.crash();
      machine.restart();
    });
    while (machine.is_up()) {
      history.call("main", Read{}, [&] { return disk; });
      delay(700us);
    }
    history.expect_linearizable();
  });
  EXPECT_FALSE(result.found) << result.found->failure.message << result.found->failure.explanation;
}

TEST(History, ARunThatIsUndecidedFails) {
  const ExploreResult result = explore(runs(1), [](World& world) {
    History<IntRegister> history(world, "register");
    for (int i = 0; i < 5; ++i) history.invoke("Ada", Write{i}).responds();
    LinearizabilityLimits limits;
    limits.configurations = 3;
    history.expect_linearizable(limits);
  });
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->failure.message,
            "history 'register' is undecided: its 5 operations need more than 3 configurations; "
            "expected fewer at the same time, a model with partitions, or a higher limit");
}

}  // namespace
}  // namespace fermata::sim
