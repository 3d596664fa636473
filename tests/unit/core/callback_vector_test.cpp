// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/callback_vector.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

using Labels = std::vector<std::string>;

/// Four subscribers A, B, C, D of one event, and a fifth, E, that is not subscribed.
class CallbackVectorTest : public RuntimeFixture {
 protected:
  CallbackVectorTest() {
    for (Probe* probe : {&a, &b, &c, &d}) event->add_callback(*probe);
  }

  [[nodiscard]] Labels subscribed() const {
    Labels names;
    event->callbacks().for_each(
        [&](backend::Callback& callback) { names.push_back(static_cast<Probe&>(callback).name); });
    return names;
  }

  Labels order;
  Probe a{"A", &order};
  Probe b{"B", &order};
  Probe c{"C", &order};
  Probe d{"D", &order};
  Probe e{"E", &order};
  Ref<PlainEvent> event = make_event<PlainEvent>(fixture.runtime);
};

TEST_F(CallbackVectorTest, CallsInSubscriptionOrderWithoutRemovals) {
  FERMATA_CHECKS("CORE-CB-11", "EVT-03");
  event->add_callback(e);
  event->notify({});
  event->notify({});
  EXPECT_EQ(order, (Labels{"A", "B", "C", "D", "E", "A", "B", "C", "D", "E"}));
}

TEST_F(CallbackVectorTest, CallsTheRestWhenOneRemovesAnEarlierOne) {
  FERMATA_CHECKS("CORE-CB-01");
  b.action = [this](Event& fired) { fired.remove_callback(a); };
  event->notify({});
  EXPECT_EQ(order, (Labels{"A", "B", "C", "D"}));
  EXPECT_EQ(subscribed(), (Labels{"B", "C", "D"}));
}

TEST_F(CallbackVectorTest, DoesNotCallWhatIsRemovedBeforeItsTurn) {
  FERMATA_CHECKS("CORE-CB-01", "CORE-CB-02", "CORE-CB-07");
  b.action = [this](Event& fired) {
    fired.remove_callback(b);
    fired.remove_callback(c);
  };
  event->notify({});
  EXPECT_EQ(order, (Labels{"A", "B", "D"}));
  event->notify({});
  EXPECT_EQ(order, (Labels{"A", "B", "D", "A", "D"}));
}

TEST_F(CallbackVectorTest, KeepsOrderWhileCallbacksRemoveOnlyThemselves) {
  for (Probe* probe : {&a, &b, &c, &d}) {
    probe->action = [probe](Event& fired) { fired.remove_callback(*probe); };
  }
  event->notify({});
  EXPECT_EQ(order, (Labels{"A", "B", "C", "D"}));
  EXPECT_EQ(event->callbacks().size(), 0u);
}

TEST_F(CallbackVectorTest, LetsTheLastOneRemoveAll) {
  FERMATA_CHECKS("CORE-CB-07");
  d.action = [this](Event& fired) {
    for (Probe* probe : {&a, &b, &c, &d}) EXPECT_TRUE(fired.remove_callback(*probe));
  };
  event->notify({});
  EXPECT_EQ(order, (Labels{"A", "B", "C", "D"}));
  EXPECT_TRUE(subscribed().empty());
}

TEST_F(CallbackVectorTest, DetachesEverybodyInOrderWhenTheEventEnds) {
  Labels detached;
  for (Probe* probe : {&a, &b, &c, &d}) {
    probe->on_destroy = [probe, &detached] { detached.push_back(probe->name); };
  }
  event.reset();
  EXPECT_EQ(detached, (Labels{"A", "B", "C", "D"}));
  EXPECT_EQ(a.event(), nullptr);
  EXPECT_EQ(a.destroyed, 1);
}

TEST_F(CallbackVectorTest, LetsTheFirstClearAll) {
  FERMATA_CHECKS("CORE-CB-02", "CORE-CB-07");
  backend::CallbackVector vector;
  Probe first("first", &order);
  Probe second("second", &order);
  vector.add(first, *event);
  vector.add(second, *event);
  first.action = [&](Event&) { vector.clear(); };
  vector.run_pass(*event, {}, [] {});
  EXPECT_EQ(order, (Labels{"first"}));
  EXPECT_EQ(vector.size(), 0u);
  EXPECT_EQ(first.destroyed, 1);
  EXPECT_EQ(second.destroyed, 1);
}

TEST_F(CallbackVectorTest, ClearsAlsoWhenTheEndOfOneRemovesAnother) {
  backend::CallbackVector vector;
  Probe first("first");
  Probe second("second");
  Probe third("third");
  for (Probe* probe : {&first, &second, &third}) vector.add(*probe, *event);
  first.on_destroy = [&] { vector.remove(third, *event); };
  vector.clear();
  for (Probe* probe : {&first, &second, &third}) EXPECT_EQ(probe->destroyed, 1) << probe->name;
}

TEST_F(CallbackVectorTest, DoesNotCallWhatIsAddedDuringThePass) {
  FERMATA_CHECKS("CORE-CB-03", "CORE-CB-08");
  a.action = [this](Event& fired) {
    if (e.event() == nullptr) fired.add_callback(e);
  };
  event->notify({});
  EXPECT_EQ(order, (Labels{"A", "B", "C", "D"}));
  EXPECT_EQ(subscribed().back(), "E");
  event->notify({});
  EXPECT_EQ(e.runs, 1);
}

TEST_F(CallbackVectorTest, EndsThePassWhenOneReAddsItselfForEver) {
  FERMATA_CHECKS("CORE-CB-08");
  a.action = [this](Event& fired) {
    fired.remove_callback(a);
    fired.add_callback(a);
  };
  event->notify({});
  EXPECT_EQ(a.runs, 1);
  EXPECT_EQ(subscribed(), (Labels{"B", "C", "D", "A"}));
}

TEST_F(CallbackVectorTest, SurvivesACallbackThatFreesTheEvent) {
  FERMATA_CHECKS("CORE-CB-07", "CORE-EV-09");
  bool live_in_callback = false;
  b.action = [&](Event& fired) {
    event.reset();
    live_in_callback = fired.callbacks().size() == 4;
  };
  event->notify({});
  EXPECT_TRUE(live_in_callback);
  EXPECT_EQ(order, (Labels{"A", "B", "C", "D"}));
  EXPECT_EQ(fixture.runtime.kernel().live_events.size(), 0u);
  EXPECT_EQ(d.destroyed, 1);
}

TEST_F(CallbackVectorTest, DeliversANestedNotifyAfterThePass) {
  FERMATA_CHECKS("CORE-CB-10", "EVT-11");
  a.action = [this](Event& fired) {
    if (a.runs > 1) return;
    fired.notify({});
    fired.remove_callback(c);
  };
  event->notify({});
  EXPECT_EQ(order, (Labels{"A", "B", "D", "A", "B", "D"}));
}

TEST_F(CallbackVectorTest, CallsTheRestWhenOneThrows) {
  FERMATA_CHECKS("CORE-CB-09");
  a.action = [](Event&) { throw Error("A failed"); };
  c.action = [](Event&) { throw Error("C failed"); };
  EXPECT_EQ(thrown_by([&] { event->notify({}); }),
            "fermata::Error: A failed\n  previous: fermata::Error: C failed");
  EXPECT_EQ(order, (Labels{"A", "B", "C", "D"}));
  EXPECT_FALSE(event->callbacks().in_pass());
}

TEST_F(CallbackVectorTest, RefusesToRemoveWhatIsNotThere) {
  FERMATA_CHECKS("CORE-CB-12", "CORE-GL-13");
  EXPECT_FALSE(event->remove_callback(e));
  EXPECT_EQ(e.destroyed, 0);
  EXPECT_TRUE(event->remove_callback(a));
  EXPECT_FALSE(event->remove_callback(a));
  EXPECT_EQ(a.destroyed, 1);

  const auto other = make_event<PlainEvent>(fixture.runtime);
  EXPECT_FALSE(other->remove_callback(b));
  EXPECT_EQ(b.event(), event.get());
}

TEST_F(CallbackVectorTest, RefusesTheSameCallbackTwice) {
  EXPECT_EQ(thrown_by([&] { event->add_callback(a); }),
            "fermata::UsageError: a callback can be subscribed only once at a time");
  EXPECT_EQ(event->callbacks().size(), 4u);
  EXPECT_EQ(a.ref_count(), 1u);
}

TEST_F(CallbackVectorTest, FillsAHoleWithTheLastOneOutsideAPass) {
  FERMATA_CHECKS("CORE-CB-05");
  event->add_callback(e);
  event->remove_callback(b);
  EXPECT_EQ(subscribed(), (Labels{"A", "E", "C", "D"}));
}

TEST_F(CallbackVectorTest, CountsTheHoldersOfACallback) {
  FERMATA_CHECKS("CORE-CB-06");
  std::uint32_t while_running = 0;
  a.action = [&](Event& fired) {
    while_running = a.ref_count();
    fired.remove_callback(a);
    EXPECT_EQ(a.destroyed, 0) << "the running pass holds it";
  };
  EXPECT_EQ(a.ref_count(), 1u);
  event->notify({});
  EXPECT_EQ(while_running, 2u);
  EXPECT_EQ(a.ref_count(), 0u);
  EXPECT_EQ(a.destroyed, 1);
}

TEST_F(CallbackVectorTest, DoesNotAllocateForTwo) {
  const auto other = make_event<PlainEvent>(fixture.runtime);
  EXPECT_EQ(other->callbacks().capacity(), 2u);
  EXPECT_EQ(event->callbacks().capacity(), 4u);
}

}  // namespace
}  // namespace fermata::test
