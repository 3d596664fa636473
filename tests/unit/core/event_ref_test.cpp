// SPDX-License-Identifier: Apache-2.0

// The four ways to hold an event: Ref, EventRef, an owner outside, a Subscription.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>

#include "fermata/base/error.hpp"
#include "fermata/core/event.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

class Held : public RuntimeFixture {};

using RefTest = Held;
using EventRefTest = Held;
using OwnerTest = Held;
using SubscriptionTest = Held;

TEST_F(RefTest, CountsCopiesAndMoves) {
  auto first = make_event<PlainEvent>(runtime);
  auto second = first;
  EXPECT_EQ(first->ref_count(), 2u);
  auto third = std::move(second);
  EXPECT_FALSE(second);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(first->ref_count(), 2u);
  third = Ref<PlainEvent>::share(*first);
  EXPECT_EQ(first->ref_count(), 2u);
  first.reset();
  EXPECT_EQ(third->ref_count(), 1u);
  PlainEvent* raw = third.detach();
  EXPECT_EQ(runtime.kernel().live_events.size(), 1u);
  raw->release();
  EXPECT_EQ(runtime.kernel().live_events.size(), 0u);
}

TEST_F(EventRefTest, IsEmptyOnceTheEventIsGone) {
  auto event = make_event<PlainEvent>(runtime);
  const backend::EventRef first(*event);
  auto second = std::make_unique<backend::EventRef>(*event);
  const backend::EventRef third(*event);
  EXPECT_EQ(event->ref_count(), 1u) << "it owns nothing";
  EXPECT_EQ(first.get(), event.get());
  second.reset();
  event.reset();
  EXPECT_EQ(first.get(), nullptr);
  EXPECT_EQ(third.get(), nullptr);
  EXPECT_EQ(backend::EventRef().get(), nullptr);
}

// What its destructor calls after shut() may still point at it.
TEST_F(EventRefTest, IsEmptyWhenMadeWhileTheEventEnds) {
  struct LookedAtLate final : Event {
    LookedAtLate(Runtime& owner, std::optional<backend::EventRef>& place)
        : Event(owner, backend::EventKind::Plain), late(place) {}
    ~LookedAtLate() override {
      shut();
      late.emplace(*this);
    }
    std::optional<backend::EventRef>& late;
  };
  std::optional<backend::EventRef> late;
  make_event<LookedAtLate>(runtime, std::ref(late)).reset();
  ASSERT_TRUE(late.has_value());
  EXPECT_EQ(late->get(), nullptr);
}

TEST_F(EventRefTest, DoesNotStopTheEventWhenItEnds) {
  const auto event = make_event<BackendEvent>(runtime);
  event->start();
  { const backend::EventRef reference(*event); }
  EXPECT_EQ(event->loop_ref_count(), 1u);
  EXPECT_EQ(runtime.active_event_count(), 1u);
}

// The seed's double life: an object of the user's that is an event inside.
TEST_F(OwnerTest, TakesTheReferencesToTheEvent) {
  auto* event = new PlainEvent(runtime);
  struct Counter final : backend::EventOwner {
    void add_owner_ref() noexcept override { ++references; }
    void release_owner_ref() noexcept override { --references; }
    int references = 1;
  } owner;
  event->set_owner(owner);
  EXPECT_EQ(event->owner(), &owner);
  {
    const auto shared = Ref<PlainEvent>::share(*event);
    EXPECT_EQ(owner.references, 2);
    EXPECT_EQ(event->ref_count(), 1u) << "the event's own count stays out of it";
  }
  EXPECT_EQ(owner.references, 1);
  event->notify({});
  EXPECT_EQ(owner.references, 1);
  delete event;
  EXPECT_EQ(runtime.kernel().live_events.size(), 0u);
}

TEST_F(OwnerTest, KeepsTheWholeObjectWhileACoroutineWaits) {
  struct Object final : backend::EventOwner {
    explicit Object(Runtime& owning) : event(new PlainEvent(owning)) { event->set_owner(*this); }
    ~Object() { delete event; }
    void add_owner_ref() noexcept override { ++references; }
    void release_owner_ref() noexcept override {
      if (--references == 0) delete this;
    }
    int references = 1;
    PlainEvent* event;
  };
  auto* object = new Object(runtime);
  PlainEvent& event = *object->event;
  Probe probe;
  int references_in_callback = 0;
  probe.action = [&](Event& fired) {
    object->release_owner_ref();
    references_in_callback = static_cast<Object*>(fired.owner())->references;
  };
  event.add_callback(probe);
  event.notify({});
  EXPECT_EQ(references_in_callback, 1) << "the running notify holds the object";
  EXPECT_EQ(runtime.kernel().live_events.size(), 0u);
}

TEST_F(SubscriptionTest, LastsAsLongAsItsHandle) {
  const auto event = make_event<PlainEvent>(runtime);
  int calls = 0;
  {
    const Subscription subscription = subscribe(*event, [&](Event&, const Outcome&) { ++calls; });
    EXPECT_TRUE(subscription.is_active());
    event->notify({});
  }
  event->notify({});
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(event->callbacks().size(), 0u);
}

TEST_F(SubscriptionTest, EndsTwiceAsOnce) {
  FERMATA_CHECKS("CORE-GL-13");
  const auto event = make_event<PlainEvent>(runtime);
  Subscription subscription = subscribe(*event, [](Event&, const Outcome&) {});
  Subscription moved = std::move(subscription);
  EXPECT_FALSE(subscription.is_active());  // NOLINT(bugprone-use-after-move)
  moved.cancel();
  moved.cancel();
  EXPECT_FALSE(moved.is_active());
}

TEST_F(SubscriptionTest, SurvivesTheEvent) {
  auto event = make_event<PlainEvent>(runtime);
  const Subscription subscription = subscribe(*event, [](Event&, const Outcome&) {});
  event.reset();
  EXPECT_FALSE(subscription.is_active());
}

TEST_F(SubscriptionTest, MayEndInItsOwnCallback) {
  const auto event = make_event<PlainEvent>(runtime);
  int calls = 0;
  Subscription subscription;
  subscription = subscribe(*event, [&](Event&, const Outcome&) {
    ++calls;
    subscription.cancel();
  });
  event->notify({});
  event->notify({});
  EXPECT_EQ(calls, 1);
}

TEST_F(SubscriptionTest, AnswersAtOnceOnAFinishedEvent) {
  const auto event = make_event<PlainEvent>(runtime);
  event->complete({});
  int calls = 0;
  const Subscription subscription = subscribe(*event, [&](Event&, const Outcome&) { ++calls; });
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(subscription.is_active());
}

}  // namespace
}  // namespace fermata::test
