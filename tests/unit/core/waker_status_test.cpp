// SPDX-License-Identifier: Apache-2.0

// The states of a waker, edge by edge (CORE-WK-01).

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

using Statuses = std::vector<std::string>;

/// Writes down the status of its coroutine at each switch.
class StatusRecorder final : public backend::SwitchHandler {
 public:
  explicit StatusRecorder(Statuses& statuses) : statuses_(statuses) {}
  bool on_switch(CoroutineBase& coroutine, backend::SwitchMoment) override {
    statuses_.emplace_back(to_string(coroutine.waker().status));
    return true;
  }

 private:
  Statuses& statuses_;
};

class WakerStatusTest : public RuntimeFixture {
 protected:
  template <class Body>
  auto spawn_recorded(Body body) {
    const auto coroutine = spawn(body);
    note(*coroutine);
    coroutine->add_switch_handler(std::make_shared<StatusRecorder>(statuses));
    return coroutine;
  }
  void note(const CoroutineBase& coroutine) {
    statuses.emplace_back(to_string(coroutine.waker().status));
  }

  Statuses statuses;
};

TEST_F(WakerStatusTest, GoesThroughQueueAndBackForAYield) {
  FERMATA_CHECKS("CORE-WK-01");
  fixture.run([this] {
    const auto child = spawn_recorded([this] {
      note(current_coroutine());
      suspend();
      note(current_coroutine());
    });
    await(child);
    note(*child);
  });
  EXPECT_EQ(statuses, (Statuses{"queued", "result", "none",  // spawned, entered, in the body
                                "queued", "result", "none",  // yielding, entered, back
                                "none", "none"}));           // at the end and after it
}

TEST_F(WakerStatusTest, GoesThroughWaitingForAnEvent) {
  FERMATA_CHECKS("CORE-WK-01");
  fixture.run([this] {
    const auto event = make_event<PlainEvent>(runtime);
    const auto child = spawn_recorded([&] { wait(*event); });
    suspend();
    note(*child);
    event->notify({});
    note(*child);
    await(child);
  });
  EXPECT_EQ(statuses,
            (Statuses{"queued", "result", "waiting", "waiting", "queued", "result", "none"}));
}

MAIN_TEST_F(WakerStatusTest, IsAnsweredInItsOwnTickWithoutTheQueue) {
  FERMATA_CHECKS("CORE-WK-01");
  const auto event = make_event<PlainEvent>(runtime);
  struct Fire final : backend::Microtask {
    explicit Fire(Event& which) : event_(which) {}
    void run() override {
      event_.notify({});
      status = to_string(event_.runtime().current()->waker().status);
    }
    Event& event_;
    std::string status;
  };
  auto* fire = new Fire(*event);
  runtime.queue_microtask(*fire);
  wait(*event);
  EXPECT_EQ(fire->status, "result");
  EXPECT_EQ(current_coroutine().waker().status, backend::WakerStatus::None);
  fire->release();
}

TEST_F(WakerStatusTest, IsIgnoredWhenCancelledBeforeTheStart) {
  FERMATA_CHECKS("CORE-WK-01", "CORE-CO-03");
  fixture.run([this] {
    const auto child = spawn_recorded([] {});
    child.cancel();
    note(*child);
    suspend();
    note(*child);
  });
  EXPECT_EQ(statuses, (Statuses{"queued", "ignored", "result", "none"}));
}

TEST_F(WakerStatusTest, IsClearAgainWhenAStartFails) {
  FERMATA_CHECKS("CORE-WK-01", "CORE-WK-15");
  fixture.run([this] {
    const auto event = make_event<BackendEvent>(runtime);
    event->on_arm = [&] {
      note(current_coroutine());
      throw Error("cannot be armed");
    };
    EXPECT_THROW(wait(*event), Error);
    note(current_coroutine());
  });
  EXPECT_EQ(statuses, (Statuses{"waiting", "none"}));
}

TEST(WakerStatus, HasANameForEachState) {
  EXPECT_STREQ(to_string(backend::WakerStatus::None), "none");
  EXPECT_STREQ(to_string(backend::WakerStatus::Waiting), "waiting");
  EXPECT_STREQ(to_string(backend::WakerStatus::Queued), "queued");
  EXPECT_STREQ(to_string(backend::WakerStatus::Ignored), "ignored");
  EXPECT_STREQ(to_string(backend::WakerStatus::Result), "result");
}

}  // namespace
}  // namespace fermata::test
