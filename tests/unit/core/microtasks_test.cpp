// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/microtasks.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/any_order.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;
using Order = std::vector<std::string>;

class Task final : public backend::Microtask {
 public:
  Task(std::string name, Order& order, std::function<void()> action = nullptr)
      : action_(std::move(action)), name_(std::move(name)), order_(order) {}

  void run() override {
    order_.push_back(name_);
    if (action_) action_();
  }

 private:
  ~Task() override { order_.push_back("~" + name_); }
  std::function<void()> action_;
  std::string name_;
  Order& order_;
};

class MicrotasksTest : public RuntimeFixture {
 protected:
  /// Queues a task whose only reference is then the queue's.
  void queue(std::string name, std::function<void()> action = nullptr) {
    auto* task = new Task(std::move(name), order, std::move(action));
    runtime.queue_microtask(*task);
    task->release();
  }

  Order order;
};

TEST_F(MicrotasksTest, RunInOrderBeforeTheNextSwitch) {
  FERMATA_CHECKS("CORE-SC-04", "CORE-SC-05");
  fixture.run([this] {
    spawn([this] {
      EXPECT_TRUE(runtime.scheduler().microtasks().empty());
      order.emplace_back("coroutine");
    });
    queue("1");
    queue("2");
    suspend();
  });
  EXPECT_EQ(order, (Order{"1", "~1", "2", "~2", "coroutine"}));
}

TEST_F(MicrotasksTest, RunAlsoWhenACoroutineYieldsAlone) {
  fixture.run([this] {
    queue("1");
    suspend();
    order.emplace_back("back");
  });
  EXPECT_EQ(order, (Order{"1", "~1", "back"}));
}

TEST_F(MicrotasksTest, DrainWhatTheyQueueThemselves) {
  FERMATA_CHECKS("CORE-SC-04", "CORE-SC-05");
  constexpr int kGenerations = 5000;
  int ran = 0;
  fixture.run([&] {
    std::function<void()> again = [&] {
      if (++ran < kGenerations) queue("", again);
    };
    queue("", again);
    suspend();
    EXPECT_EQ(ran, kGenerations);
  });
}

TEST_F(MicrotasksTest, KeepTheRestForTheNextTickWhenOneThrows) {
  FERMATA_CHECKS("CORE-SC-06", "CORE-SC-04");
  const std::string thrown = thrown_by([this] {
    fixture.run([this] {
      spawn([this] { order.emplace_back("coroutine"); });
      queue("1");
      queue("2", [] { throw Error("task failed"); });
      queue("3");
      EXPECT_EQ(thrown_by([] { suspend(); }), "fermata::Cancellation: Graceful shutdown")
          << "the error is not the suspending coroutine's";
      order.emplace_back("main");
    });
  });
  EXPECT_EQ(thrown, "fermata::Error: task failed");
  EXPECT_EQ(order, (Order{"1", "~1", "2", "~2", "main", "3", "~3"}))
      << "the coroutine that had not started is cancelled by the shutdown";
}

TEST_F(MicrotasksTest, SkipWhatIsCancelled) {
  FERMATA_CHECKS("CORE-SC-04");
  fixture.run([this] {
    auto* cancelled_late = new Task("late", order);
    runtime.queue_microtask(*cancelled_late);
    EXPECT_EQ(cancelled_late->ref_count(), 2u);
    cancelled_late->cancel();
    auto* cancelled_early = new Task("early", order);
    cancelled_early->cancel();
    runtime.queue_microtask(*cancelled_early);
    EXPECT_EQ(cancelled_early->ref_count(), 1u) << "accepted and not queued";
    suspend();
    EXPECT_EQ(cancelled_late->ref_count(), 1u);
    EXPECT_TRUE(order.empty());
    cancelled_late->release();
    cancelled_early->release();
  });
  EXPECT_EQ(order, (Order{"~late", "~early"}));
}

TEST_F(MicrotasksTest, RunAsOftenAsQueued) {
  FERMATA_CHECKS("CORE-SC-04");
  fixture.run([this] {
    auto* task = new Task("t", order);
    for (int i = 0; i < 3; ++i) runtime.queue_microtask(*task);
    EXPECT_EQ(task->ref_count(), 4u);
    task->release();
    suspend();
  });
  EXPECT_EQ(order, (Order{"t", "t", "t", "~t"}));
}

TEST_F(MicrotasksTest, MustNotSuspend) {
  FERMATA_CHECKS("CORE-SC-19", "CORE-GL-15");
  std::vector<std::string> refusals;
  fixture.run([&] {
    queue("", [&] {
      EXPECT_TRUE(runtime.scheduler().in_scheduler_context());
      refusals.push_back(thrown_by([] { suspend(); }));
      refusals.push_back(thrown_by([] { delay(1ms); }));
      refusals.push_back(thrown_by([] { exit_with(1); }));
      EXPECT_EQ(runtime.registry().size(), 1u) << "only the main coroutine";
      EXPECT_EQ(runtime.kernel().live_events.size(), 1u) << "its scope";
    });
    suspend();
    EXPECT_FALSE(runtime.scheduler().is_shutting_down());
  });
  const auto refusal = [](const char* operation) {
    return std::string("fermata::UsageError: ") + operation +
           ": the scheduler's own context and callbacks must not suspend";
  };
  EXPECT_EQ(refusals,
            (std::vector<std::string>{refusal("suspend"), refusal("delay"), refusal("exit")}));
}

TEST_F(MicrotasksTest, MaySpawnWakeAndCancel) {
  fixture.run([this] {
    const auto event = make_event<PlainEvent>(runtime);
    const auto waiter = spawn([&] { wait(*event); });
    const auto sleeper = spawn([] { delay(1h); });
    suspend();
    queue("", [&] {
      spawn([this] { order.emplace_back("spawned"); });
      event->notify({});
      sleeper.cancel();
    });
    await(waiter);
    EXPECT_THROW(await(sleeper), Cancellation);
  });
  EXPECT_EQ(order, (Order{"", "~", "spawned"}));
}

MAIN_TEST_F(MicrotasksTest, CanWakeWhoseTickTheyRunIn) {
  FERMATA_CHECKS("CORE-SC-07");
  const auto event = make_event<PlainEvent>(runtime);
  queue("", [&] { event->notify({}); });
  const Metrics before = runtime.metrics();
  wait(*event);
  EXPECT_EQ(runtime.metrics().switches, before.switches);
}

TEST_F(MicrotasksTest, ThatNeverEndAreALivelockInSimulation) {
  AnyOrder chooser(1);
  RuntimeOptions options;
  options.chooser = &chooser;
  TestRuntime simulated(options);
  class Again final : public backend::Microtask {
   public:
    explicit Again(Runtime& owner) : runtime_(owner) {}
    void run() override { runtime_.queue_microtask(*this); }

   private:
    Runtime& runtime_;
  };
  EXPECT_EQ(thrown_by([&] {
              simulated.run([&] {
                auto* task = new Again(simulated.runtime);
                simulated.runtime.queue_microtask(*task);
                task->release();
                suspend();
              });
            }),
            "fermata::LivelockError: more than 100000 microtasks without a switch");
}

TEST_F(MicrotasksTest, RunBeforeTheRunEnds) {
  FERMATA_CHECKS("CORE-SC-14");
  fixture.run([this] { queue("last"); });
  EXPECT_EQ(order, (Order{"last", "~last"}));
  EXPECT_TRUE(runtime.scheduler().microtasks().empty());
}

}  // namespace
}  // namespace fermata::test
