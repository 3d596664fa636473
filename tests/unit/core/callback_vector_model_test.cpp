// SPDX-License-Identifier: Apache-2.0

// The callback vector against a list that knows nothing of passes, regions or swaps: 100,000 random
// passes in which callbacks add, remove and clear each other, throw and notify again.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/callback_vector.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/splitmix.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

constexpr std::size_t kCallbacks = 12;

class Actor;

/// What is expected: who is subscribed, and who still has to be called in the running pass.
struct Model {
  std::vector<const Actor*> subscribed;  // In no order.
  std::vector<const Actor*> due;         // In subscription order at the start of the pass.
  bool order_known = true;               // Nobody has removed another one.

  void remove(const Actor* actor) {
    std::erase(subscribed, actor);
    std::erase(due, actor);
  }
  [[nodiscard]] bool has(const Actor* actor) const {
    return std::find(subscribed.begin(), subscribed.end(), actor) != subscribed.end();
  }
};

struct Stage {
  explicit Stage(Runtime& runtime) : event(make_event<PlainEvent>(runtime)) {}

  Ref<PlainEvent> event;
  backend::CallbackVector vector;
  Model model;
  SplitMix random{20261121};
  std::vector<std::unique_ptr<Actor>> actors;
  std::size_t calls = 0;
  std::size_t throws = 0;
};

class Actor final : public backend::Callback {
 public:
  explicit Actor(Stage& stage) : stage_(stage) {}

  void run(Event&, const Outcome&) override;

  void subscribe() {
    EXPECT_EQ(ref_count(), held_by_pass());
    stage_.vector.add(*this, *stage_.event);
    stage_.model.subscribed.push_back(this);
  }
  void unsubscribe() {
    const bool present = stage_.model.has(this);
    const int destroyed_before = destroyed;
    EXPECT_EQ(stage_.vector.remove(*this, *stage_.event), present);
    if (!present) {
      EXPECT_EQ(destroyed, destroyed_before);
    }
    stage_.model.remove(this);
  }
  [[nodiscard]] bool subscribed() const { return stage_.model.has(this); }
  [[nodiscard]] std::uint32_t held_by_pass() const { return running_ ? 1 : 0; }

  int destroyed = 0;

 private:
  void destroy() noexcept override { ++destroyed; }
  void act();

  Stage& stage_;
  bool running_ = false;
};

void Actor::run(Event&, const Outcome&) {
  Model& model = stage_.model;
  const auto due = std::find(model.due.begin(), model.due.end(), this);
  ASSERT_NE(due, model.due.end()) << "called twice, or though it was removed or added late";
  if (model.order_known) {
    EXPECT_EQ(due, model.due.begin());
  }
  model.due.erase(due);
  ++stage_.calls;
  running_ = true;
  EXPECT_EQ(ref_count(), 2u);
  act();
  running_ = false;
  if (stage_.random.once_in(20)) {
    ++stage_.throws;
    throw Error("an actor failed");
  }
}

void Actor::act() {
  SplitMix& random = stage_.random;
  for (std::size_t i = random.below(4); i > 0; --i) {
    Actor& other = random.once_in(3) ? *this : *stage_.actors[random.below(kCallbacks)];
    if (random.once_in(30)) {
      stage_.vector.clear();
      stage_.model.subscribed.clear();
      stage_.model.due.clear();
    } else if (!other.subscribed()) {
      other.subscribe();
    } else {
      if (&other != this) stage_.model.order_known = false;
      other.unsubscribe();
    }
  }
}

void check_contents(const Stage& stage) {
  std::vector<const backend::Callback*> there;
  stage.vector.for_each([&](backend::Callback& callback) { there.push_back(&callback); });
  EXPECT_EQ(there.size(), stage.model.subscribed.size());
  EXPECT_EQ(stage.vector.size(), there.size());
  EXPECT_LE(stage.vector.size(), stage.vector.capacity());
  for (const Actor* actor : stage.model.subscribed) {
    EXPECT_EQ(std::count(there.begin(), there.end(), actor), 1);
    EXPECT_EQ(actor->ref_count(), 1u);
    EXPECT_EQ(actor->event(), stage.event.get());
  }
}

void run_pass(Stage& stage) {
  Model& model = stage.model;
  // Outside a pass a removal may have moved the last entry: the vector itself tells the order.
  model.due.clear();
  stage.vector.for_each(
      [&](backend::Callback& callback) { model.due.push_back(&static_cast<Actor&>(callback)); });
  model.order_known = true;
  const std::size_t present = model.due.size();
  stage.calls = 0;
  stage.throws = 0;
  const std::exception_ptr error = stage.vector.run_pass(*stage.event, {}, [] {});
  EXPECT_TRUE(model.due.empty()) << "somebody was not called";
  EXPECT_LE(stage.calls, present);
  EXPECT_EQ(error != nullptr, stage.throws > 0);
  EXPECT_EQ(chain_of(error).size(), stage.throws);
  check_contents(stage);
}

TEST(CallbackVectorModel, AgreesInAHundredThousandPasses) {
  FERMATA_CHECKS("CORE-CB-01", "CORE-CB-02", "CORE-CB-03", "CORE-CB-04", "CORE-CB-06", "CORE-CB-07",
                 "CORE-CB-08", "CORE-CB-09", "CORE-CB-11", "CORE-CB-12", "EVT-03");
  TestRuntime fixture;
  Stage stage(fixture.runtime);
  for (std::size_t i = 0; i < kCallbacks; ++i) {
    stage.actors.push_back(std::make_unique<Actor>(stage));
  }
  for (int pass = 0; pass < 100'000 && !::testing::Test::HasFailure(); ++pass) {
    for (std::size_t i = stage.random.below(6); i > 0; --i) {
      Actor& actor = *stage.actors[stage.random.below(kCallbacks)];
      actor.subscribed() ? actor.unsubscribe() : actor.subscribe();
    }
    run_pass(stage);
  }
  stage.vector.clear();
  for (const auto& actor : stage.actors) EXPECT_EQ(actor->ref_count(), 0u);
}

TEST(CallbackVectorModel, MovesAtMostThreeEntriesForARemoval) {
  FERMATA_CHECKS("CORE-CB-05");
  TestRuntime fixture;
  Stage stage(fixture.runtime);
  constexpr std::size_t kMany = 64;
  for (std::size_t i = 0; i < kMany; ++i) {
    stage.actors.push_back(std::make_unique<Actor>(stage));
    stage.actors.back()->subscribe();
  }
  const auto order = [&] {
    std::vector<const backend::Callback*> now;
    stage.vector.for_each([&](backend::Callback& callback) { now.push_back(&callback); });
    return now;
  };
  while (stage.vector.size() > 1) {
    const auto before = order();
    stage.actors[stage.random.below(stage.actors.size())]->unsubscribe();
    const auto after = order();
    std::size_t moved = 0;
    for (std::size_t i = 0; i < after.size(); ++i) moved += after[i] != before[i] ? 1 : 0;
    EXPECT_LE(moved, 3u);
  }
}

}  // namespace
}  // namespace fermata::test
