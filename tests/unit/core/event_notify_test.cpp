// SPDX-License-Identifier: Apache-2.0

// notify(): what reaches the subscribers, and when.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/event.hpp"
#include "fermata/core/suspend.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

class NotifyTest : public RuntimeFixture {};

TEST_F(NotifyTest, LetsAHandlerReplaceTheOutcome) {
  FERMATA_CHECKS("CORE-EV-14");
  static int handled;
  handled = 0;
  const auto event = make_event<PlainEvent>(runtime);
  event->set_notify_handler([](Event& fired, const Outcome&) {
    if (++handled == 2) return;  // Swallowed.
    fired.notify_from_handler({nullptr, std::make_exception_ptr(Timeout("converted"))});
  });
  Probe probe;
  event->add_callback(probe);
  event->notify({});
  EXPECT_EQ(handled, 1);
  EXPECT_EQ(message_of(probe.error), "converted");
  event->notify({});
  EXPECT_EQ(handled, 2);
  EXPECT_EQ(probe.runs, 1);
  event->notify({});
  EXPECT_EQ(probe.runs, 2);
}

TEST_F(NotifyTest, ReportsAHandledErrorForOnePassOnly) {
  FERMATA_CHECKS("CORE-EV-15");
  const auto event = make_event<PlainEvent>(runtime);
  Probe probe;
  probe.action = [&](Event& fired) {
    if (probe.runs == 1) fired.mark_exception_handled();
  };
  event->add_callback(probe);
  const Outcome failure{nullptr, std::make_exception_ptr(Error("x"))};
  EXPECT_TRUE(event->notify(failure));
  EXPECT_FALSE(event->notify(failure));
  EXPECT_FALSE(event->exception_handled());
}

TEST_F(NotifyTest, DeliversNestedNotifiesInOrderWithTheirOwnOutcomes) {
  FERMATA_CHECKS("EVT-11");
  const auto event = make_event<PlainEvent>(runtime);
  std::vector<std::string> seen;
  Probe probe;
  probe.action = [&](Event& fired) {
    seen.push_back(message_of(probe.error));
    if (probe.runs > 1) return;
    for (const char* text : {"second", "third", "fourth"}) {
      fired.notify({nullptr, std::make_exception_ptr(Error(text))});
    }
  };
  event->add_callback(probe);
  event->notify({nullptr, std::make_exception_ptr(Error("first"))});
  EXPECT_EQ(seen, (std::vector<std::string>{"first", "second", "third", "fourth"}));
}

TEST_F(NotifyTest, CallsAThousandChainedNotifiesALivelock) {
  const auto event = make_event<PlainEvent>(runtime);
  Probe probe;
  probe.action = [](Event& fired) { fired.notify({}); };
  event->add_callback(probe);
  EXPECT_EQ(thrown_by([&] { event->notify({}); }),
            "fermata::LivelockError: " + event->info() +
                ": more than 1000 notifications, each made from inside the one before");
  EXPECT_EQ(probe.runs, 1001);
  event->remove_callback(probe);
  EXPECT_NO_THROW(event->notify({})) << "the event still works";
}

TEST_F(NotifyTest, OutlivesANotifyInWhichItIsReleased) {
  FERMATA_CHECKS("CORE-EV-09", "CLOSE-09");
  auto event = make_event<BackendEvent>(runtime);
  event->start();
  Probe first;
  Probe second;
  first.action = [&](Event&) { event.reset(); };
  event->add_callback(first);
  event->add_callback(second);
  event->notify_and_close({});
  EXPECT_EQ(second.runs, 1) << "the rest of the pass completes";
  EXPECT_EQ(second.event(), nullptr);
  EXPECT_EQ(runtime.kernel().live_events.size(), 0u);
}

TEST_F(NotifyTest, RefusesToSuspendInACallback) {
  FERMATA_CHECKS("CORE-GL-15");
  const auto event = make_event<PlainEvent>(runtime);
  Probe probe;
  std::string refusal;
  probe.action = [&](Event&) { refusal = thrown_by([] { suspend(); }); };
  event->add_callback(probe);
  fixture.run([&] {
    event->notify({});
    suspend();  // Afterwards it may.
  });
  EXPECT_EQ(refusal,
            "fermata::UsageError: suspend: the scheduler's own context and callbacks must not "
            "suspend");
}

}  // namespace
}  // namespace fermata::test
