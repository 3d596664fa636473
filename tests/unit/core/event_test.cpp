// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/event.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/suspend.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/cutter.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

class EventTest : public RuntimeFixture {
 protected:
  [[nodiscard]] std::size_t active_count() const { return fixture.runtime.active_event_count(); }
};

TEST_F(EventTest, StaysArmedUntilStoppedAsOftenAsStarted) {
  FERMATA_CHECKS("CORE-EV-01", "CORE-EV-02", "CORE-EV-03", "EVT-01", "EVT-02");
  const auto event = make_event<BackendEvent>(runtime);
  for (int i = 0; i < 3; ++i) event->start();
  event->stop();
  event->stop();
  EXPECT_EQ(event->loop_ref_count(), 1u);
  EXPECT_EQ(event->armed, 1);
  EXPECT_EQ(event->disarmed, 0);
  EXPECT_EQ(active_count(), 1u);
  event->stop();
  EXPECT_EQ(event->loop_ref_count(), 0u);
  EXPECT_EQ(event->disarmed, 1);
  EXPECT_EQ(active_count(), 0u);
}

TEST_F(EventTest, IgnoresAStopWithoutAStart) {
  FERMATA_CHECKS("CORE-EV-04", "CORE-GL-13");
  const auto started = make_event<BackendEvent>(runtime);
  started->start();
  const auto event = make_event<BackendEvent>(runtime);
  event->stop();
  event->start();
  event->stop();
  event->stop();
  EXPECT_EQ(event->loop_ref_count(), 0u);
  EXPECT_EQ(event->disarmed, 1);
  EXPECT_EQ(active_count(), 1u) << "no other event's count was taken";
  event->close();
  event->stop();
  EXPECT_EQ(active_count(), 1u);
}

TEST_F(EventTest, GivesBackEveryLoopReferenceWhenItCloses) {
  FERMATA_CHECKS("CORE-EV-05", "EVT-01");
  const auto event = make_event<BackendEvent>(runtime);
  for (int i = 0; i < 3; ++i) event->start();
  event->close();
  event->close();
  EXPECT_TRUE(event->is_closed());
  EXPECT_EQ(event->loop_ref_count(), 0u);
  EXPECT_EQ(event->disarmed, 1);
  EXPECT_EQ(active_count(), 0u);
  event->start();
  EXPECT_EQ(event->loop_ref_count(), 0u);
  EXPECT_EQ(event->armed, 1);
}

TEST_F(EventTest, ChangesNothingWhenArmingFails) {
  const auto event = make_event<BackendEvent>(runtime);
  event->on_arm = [] { throw InputOutputError("no backend"); };
  EXPECT_EQ(thrown_by([&] { event->start(); }), "fermata::InputOutputError: no backend");
  EXPECT_EQ(event->loop_ref_count(), 0u);
  EXPECT_EQ(active_count(), 0u);
  EXPECT_FALSE(event->is_closed());
}

TEST_F(EventTest, CountsNoPlainHiddenOrIoEvent) {
  FERMATA_CHECKS("CORE-EV-01", "CORE-EV-11", "IO-15");
  const auto plain = make_event<PlainEvent>(runtime);
  const auto hidden = make_event<BackendEvent>(runtime);
  const auto io = make_event<BackendEvent>(runtime, backend::EventKind::Io);
  hidden->set_hidden(true);
  for (Event* event : {static_cast<Event*>(plain.get()), static_cast<Event*>(hidden.get()),
                       static_cast<Event*>(io.get())}) {
    event->start();
    EXPECT_FALSE(event->counts_as_active()) << event->info();
  }
  EXPECT_EQ(active_count(), 0u);
  EXPECT_EQ(plain->loop_ref_count(), 0u);
  EXPECT_EQ(io->loop_ref_count(), 1u);
  EXPECT_EQ(hidden->armed, 1);
}

TEST_F(EventTest, HidesOnlyWhileStopped) {
  const auto event = make_event<BackendEvent>(runtime);
  event->start();
  EXPECT_EQ(thrown_by([&] { event->set_hidden(true); }),
            "fermata::UsageError: an event can be hidden or shown only while it is stopped");
  event->stop();
  event->set_hidden(true);
  EXPECT_TRUE(event->is_hidden());
  event->set_hidden(false);
  event->start();
  EXPECT_EQ(active_count(), 1u);
}

TEST_F(EventTest, ClosesBeforeItTells) {
  FERMATA_CHECKS("CORE-EV-06");
  const auto event = make_event<BackendEvent>(runtime);
  event->start();
  event->start();
  Probe probe;
  Probe late;
  probe.action = [&](Event& fired) {
    EXPECT_TRUE(fired.is_closed());
    EXPECT_EQ(fired.loop_ref_count(), 0u);
    EXPECT_FALSE(fired.add_callback(late)) << "nobody subscribes to a dead one-shot";
  };
  event->add_callback(probe);
  event->notify_and_close({});
  EXPECT_EQ(probe.runs, 1);
  EXPECT_EQ(late.runs, 0);
  EXPECT_EQ(late.event(), nullptr);
  EXPECT_EQ(active_count(), 0u);
}

TEST_F(EventTest, ReplaysTheSameOutcomeForEver) {
  FERMATA_CHECKS("CORE-EV-08");
  const auto event = make_event<PlainEvent>(runtime);
  EXPECT_EQ(event->replay(), nullptr);
  const auto error = std::make_exception_ptr(Error("stored"));
  event->complete({nullptr, error});
  for (int i = 0; i < 3; ++i) {
    Probe late;
    EXPECT_FALSE(event->add_callback(late));
    EXPECT_EQ(late.runs, 1) << "called at once";
    EXPECT_EQ(late.error, error) << "the same object";
    EXPECT_EQ(late.event(), nullptr) << "not kept";
    EXPECT_EQ(late.destroyed, 1);
  }
}

TEST_F(EventTest, RefusesSubscribersOnceClosedWithoutAnOutcome) {
  const auto event = make_event<PlainEvent>(runtime);
  event->close();
  Probe late;
  EXPECT_FALSE(event->add_callback(late));
  EXPECT_EQ(late.runs, 0);
  EXPECT_EQ(late.ref_count(), 0u);
}

TEST_F(EventTest, CallsNobodyAfterItsEnd) {
  FERMATA_CHECKS("CORE-EV-09", "CLOSE-02", "EVT-04");
  auto event = make_event<BackendEvent>(runtime);
  Probe probe;
  event->start();
  event->add_callback(probe);
  event.reset();
  EXPECT_EQ(probe.runs, 0);
  EXPECT_EQ(probe.event(), nullptr);
  EXPECT_EQ(active_count(), 0u);
  EXPECT_EQ(runtime.kernel().live_events.size(), 0u);
}

TEST_F(EventTest, KeepsItsActivityWhileReferencesRemain) {
  FERMATA_CHECKS("CLOSE-05");
  const auto first = make_event<BackendEvent>(runtime);
  first->start();
  {
    const auto second = first;
    EXPECT_EQ(first->ref_count(), 2u);
  }
  EXPECT_EQ(first->ref_count(), 1u);
  EXPECT_EQ(active_count(), 1u);
}

TEST_F(EventTest, NamesItselfInEveryState) {
  const auto event = make_event<BackendEvent>(runtime, backend::EventKind::Poll);
  const std::string name = event->info();
  EXPECT_EQ(name, "Poll #" + std::to_string(event->serial()));
  event->close();
  EXPECT_EQ(event->info(), name);
  for (int kind = 0; kind <= static_cast<int>(backend::EventKind::Io); ++kind) {
    EXPECT_STRNE(to_string(static_cast<backend::EventKind>(kind)), "");
  }
}

// In production their neighbours in the list would be lines of other coroutines.
TEST(EventList, HasAllEventsForAnObserverOnly) {
  struct Operation final : Event {
    explicit Operation(Runtime& runtime) : Event(runtime, backend::EventKind::Request) {}
    void dispose() noexcept override {}
  };
  const auto listed = [](backend::Observer* observer) {
    TestRuntime fixture({.observer = observer});
    std::vector<std::size_t> sizes;
    fixture.run([&] {
      const auto size = [&] { return fixture.runtime.kernel().live_events.size(); };
      const std::size_t at_first = size();
      const auto note = [&] { sizes.push_back(size() - at_first); };
      const Operation operation(fixture.runtime);
      note();
      auto coroutine = spawn([] {});
      note();
      await(coroutine);
      note();
      coroutine = {};
      note();
    });
    return sizes;
  };
  Cutter observer;
  EXPECT_EQ(listed(nullptr), (std::vector<std::size_t>{0, 0, 1, 0})) << "held after its end";
  EXPECT_EQ(listed(&observer), (std::vector<std::size_t>{1, 2, 2, 1}));
}

TEST(EventDeathTest, MustNotOutliveItsRuntime) {
  FERMATA_CHECKS("CORE-EV-10");
  EXPECT_DEATH(
      {
        Ref<PlainEvent> event;
        TestRuntime fixture;
        event = make_event<PlainEvent>(fixture.runtime);
        [[maybe_unused]] const auto second = make_event<PlainEvent>(fixture.runtime).detach();
      },
      "fermata: events outlive runtime 'main', first: Event #1");
  EXPECT_DEATH(
      {
        Coroutine<void> held;
        TestRuntime fixture;
        fixture.run([&] { held = spawn("held", [] {}); });
      },
      "fermata: events outlive runtime 'main', first: Coroutine 2 'held' spawned at ");
}

TEST(EventDeathTest, ReportsAReleaseTooMany) {
  TestRuntime fixture;
  const auto event = make_event<BackendEvent>(fixture.runtime);
  EXPECT_DEATH(
      {
        Probe probe;
        probe.release();
      },
      "assertion 'ref_count_ > 0' failed");
}

}  // namespace
}  // namespace fermata::test
