// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/machine/agenda.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fermata/sim/strategy/make_strategy.hpp"

namespace fermata::sim::detail {
namespace {

class Note final : public Happening {
 public:
  explicit Note(std::function<void()> function) : function_(std::move(function)) {}
  void happen() override { function_(); }

 private:
  std::function<void()> function_;
};

class AgendaTest : public ::testing::Test {
 protected:
  Note& add(std::function<void()> function, std::int64_t when, std::uint64_t source) {
    notes_.push_back(std::make_unique<Note>(std::move(function)));
    agenda_.schedule(*notes_.back(), Instant{when}, source);
    return *notes_.back();
  }
  Note& add(char name, std::int64_t when, std::uint64_t source) {
    return add([this, name] { order_ += name; }, when, source);
  }
  std::string run_due(std::int64_t now) {
    order_.clear();
    agenda_.run_due(Instant{now});
    return order_;
  }
  /// All orders in which what `prepare` adds can happen.
  std::set<std::string> drawn_orders(const std::function<void()>& prepare) {
    const auto strategy = make_strategy("random");
    Decisions decisions(*strategy);
    std::set<std::string> seen;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      decisions.begin(seed);
      notes_.clear();
      order_.clear();
      prepare();
      agenda_.run_due(Instant{2}, decisions, 7, "main");
      EXPECT_EQ(agenda_.earliest(), Instant::never());
      seen.insert(order_);
    }
    return seen;
  }

  Agenda agenda_;
  std::vector<std::unique_ptr<Note>> notes_;
  std::string order_;
};

TEST_F(AgendaTest, LetsThingsHappenInTheOrderOfTimeAndOfScheduling) {
  add('c', 30, 1);
  add('a', 10, 2);
  add('b', 10, 3);
  add('d', 40, 4);
  EXPECT_EQ(agenda_.earliest(), Instant{10});
  EXPECT_EQ(run_due(30), "abc");
  EXPECT_EQ(agenda_.earliest(), Instant{40});
  EXPECT_EQ(run_due(39), "");
  EXPECT_EQ(run_due(40), "d");
  EXPECT_EQ(agenda_.earliest(), Instant::never());
}

TEST_F(AgendaTest, ForgetsWhatIsCancelled) {
  Note& first = add('a', 1, 1);
  add('b', 2, 2);
  Note& last = add('c', 3, 3);
  EXPECT_TRUE(first.is_scheduled());
  first.cancel();
  last.cancel();
  last.cancel();
  EXPECT_FALSE(first.is_scheduled());
  EXPECT_EQ(run_due(10), "b");
}

TEST_F(AgendaTest, MayChangeWhileThingsHappen) {
  Note& victim = add('x', 2, 1);
  Note killer([&] {
    victim.cancel();
    add('n', 1, 5);
    order_ += 'k';
  });
  agenda_.schedule(killer, Instant{1}, 2);
  add('b', 3, 3);
  EXPECT_EQ(run_due(5), "kb");
  EXPECT_EQ(run_due(5), "n");
}

TEST_F(AgendaTest, ChoosesAmongSourcesAndKeepsTheOrderOfEach) {
  const auto orders = drawn_orders([this] {
    add('a', 1, 1);
    add('b', 2, 1);
    add('X', 1, 2);
    add('Y', 2, 2);
  });
  EXPECT_EQ(orders, (std::set<std::string>{"abXY", "aXbY", "aXYb", "XabY", "XaYb", "XYab"}));
}

TEST_F(AgendaTest, GoesOnWithTheNextOfASourceWhenOneIsCancelled) {
  const auto orders = drawn_orders([this] {
    Note& first = add('a', 1, 1);
    add(
        [this, &first] {
          first.cancel();
          order_ += 'k';
        },
        1, 2);
    add('b', 1, 1);
    add('c', 1, 1);
  });
  EXPECT_EQ(orders, (std::set<std::string>{"abck", "abkc", "akbc", "kbc"}));
}

TEST_F(AgendaTest, SurvivesManyInAnyOrder) {
  std::vector<Note*> all;
  for (std::int64_t i = 0; i < 500; ++i) all.push_back(&add('.', (i * 7919) % 1009, 1));
  for (std::size_t i = 0; i < all.size(); i += 3) all[i]->cancel();
  std::size_t happened = 0;
  for (std::int64_t now = 0; now <= 1009; ++now) {
    happened += run_due(now).size();
    EXPECT_GT(agenda_.earliest(), Instant{now});
  }
  EXPECT_EQ(happened, 333u);
}

}  // namespace
}  // namespace fermata::sim::detail
