// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/switch_handlers.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
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

using namespace std::chrono_literals;

/// Writes down when it is called, then does what it is told.
class Recorder final : public backend::SwitchHandler {
 public:
  explicit Recorder(std::string& trace, std::string mark = "") : trace_(trace), mark_(mark) {}

  bool on_switch(CoroutineBase& coroutine, backend::SwitchMoment moment) override {
    constexpr const char* kLetters = "ELF";
    trace_ += mark_ + kLetters[static_cast<int>(moment)];
    return action ? action(coroutine, moment) : true;
  }

  std::function<bool(CoroutineBase&, backend::SwitchMoment)> action;

 private:
  std::string& trace_;
  std::string mark_;
};

class SwitchHandlersTest : public RuntimeFixture {
 protected:
  [[nodiscard]] std::shared_ptr<Recorder> recorder(std::string mark = "") {
    return std::make_shared<Recorder>(trace, std::move(mark));
  }

  std::string trace;
};

TEST_F(SwitchHandlersTest, AreCalledWheneverControlComesAndGoes) {
  FERMATA_CHECKS("CORE-SC-17");
  fixture.run([this] {
    const auto child = spawn([] {
      suspend();
      delay(1ms);
    });
    child->add_switch_handler(recorder());
    await(child);
  });
  EXPECT_EQ(trace, "ELELEF");
}

TEST_F(SwitchHandlersTest, AreToldOfTheEndOnlyWhenTheBodyNeverRan) {
  FERMATA_CHECKS("CORE-SC-17");
  fixture.run([this] {
    const auto child = spawn([] {});
    child->add_switch_handler(recorder());
    child.cancel();
    suspend();
  });
  EXPECT_EQ(trace, "F");
}

TEST_F(SwitchHandlersTest, AreNotCalledOnAQuickReturn) {
  FERMATA_CHECKS("CORE-WK-08");
  fixture.run([this] {
    const auto finished = spawn([] { return 1; });
    suspend();
    const auto child = spawn([&] { await(finished); });
    child->add_switch_handler(recorder());
    await(child);
  });
  EXPECT_EQ(trace, "EF");
}

TEST_F(SwitchHandlersTest, LeaveWhenTheyReturnFalse) {
  FERMATA_CHECKS("CORE-SC-18");
  fixture.run([this] {
    const auto child = spawn([] { suspend(); });
    const auto first = recorder("1");
    const auto second = recorder("2");
    const auto third = recorder("3");
    second->action = [](CoroutineBase&, backend::SwitchMoment) { return false; };
    for (const auto& each : {first, second, third}) child->add_switch_handler(each);
    await(child);
  });
  EXPECT_EQ(trace, "1E2E3E1L3L1E3E1F3F");
}

TEST_F(SwitchHandlersTest, AreKeptOnceAndRemovedInPlace) {
  FERMATA_CHECKS("CORE-SC-18");
  fixture.run([this] {
    const auto child = spawn([] {});
    const auto first = recorder("1");
    const auto second = recorder("2");
    EXPECT_EQ(child->add_switch_handler(first), 0u);
    EXPECT_EQ(child->add_switch_handler(second), 1u);
    EXPECT_EQ(child->add_switch_handler(first), 0u) << "not twice";
    EXPECT_TRUE(child->remove_switch_handler(*first));
    EXPECT_FALSE(child->remove_switch_handler(*first));
    await(child);
  });
  EXPECT_EQ(trace, "2E2F");
}

TEST_F(SwitchHandlersTest, CannotBeChangedWhileTheyRun) {
  std::vector<std::string> refusals;
  fixture.run([&] {
    const auto handler = recorder();
    const auto other = recorder("x");
    const auto child = spawn([] {});
    handler->action = [&](CoroutineBase& coroutine, backend::SwitchMoment moment) {
      if (moment != backend::SwitchMoment::Enter) return true;
      refusals.push_back(thrown_by([&] { coroutine.add_switch_handler(other); }));
      refusals.push_back(thrown_by([&] { coroutine.remove_switch_handler(*handler); }));
      return true;
    };
    child->add_switch_handler(handler);
    await(child);
  });
  EXPECT_EQ(refusals,
            (std::vector<std::string>{
                "fermata::UsageError: switch handlers cannot be added while they run",
                "fermata::UsageError: switch handlers cannot be removed while they run"}));
  EXPECT_EQ(trace, "EF");
}

TEST_F(SwitchHandlersTest, MustNotSuspend) {
  FERMATA_CHECKS("CORE-GL-15", "CORE-SC-19");
  std::vector<std::string> refusals;
  fixture.run([&] {
    const auto child = spawn([] { suspend(); });
    const auto handler = recorder();
    handler->action = [&](CoroutineBase&, backend::SwitchMoment) {
      refusals.push_back(thrown_by([] { suspend(); }));
      return true;
    };
    child->add_switch_handler(handler);
    await(child);
  });
  EXPECT_EQ(trace, "ELEF");
  EXPECT_EQ(refusals,
            std::vector<std::string>(4,
                                     "fermata::UsageError: suspend: the scheduler's own context "
                                     "and callbacks must not suspend"));
}

TEST_F(SwitchHandlersTest, MaySpawn) {
  std::string order;
  fixture.run([&] {
    const auto handler = recorder();
    handler->action = [&](CoroutineBase&, backend::SwitchMoment moment) {
      if (moment == backend::SwitchMoment::Leave) {
        spawn(SpawnOptions{"helper", Priority::High, {}, nullptr}, [&] { order += "helper,"; });
      }
      return moment != backend::SwitchMoment::Leave;
    };
    const auto child = spawn([&] {
      suspend();
      order += "child,";
    });
    child->add_switch_handler(handler);
    await(child);
  });
  EXPECT_EQ(order, "helper,child,");
}

TEST_F(SwitchHandlersTest, EndTheRunGracefullyWhenOneThrows) {
  FERMATA_CHECKS("CORE-CO-19");
  for (const backend::SwitchMoment bad :
       {backend::SwitchMoment::Enter, backend::SwitchMoment::Leave,
        backend::SwitchMoment::Finish}) {
    trace.clear();
    bool finally_ran = false;
    bool told = false;
    const std::string thrown = thrown_by([&] {
      fixture.run([&] {
        const auto child = spawn([] { suspend(); });
        const auto first = recorder("1");
        const auto second = recorder("2");
        first->action = [bad, thrown_once = false](CoroutineBase&,
                                                   backend::SwitchMoment moment) mutable {
          if (moment == bad && !std::exchange(thrown_once, true)) throw Error("handler failed");
          return true;
        };
        child->add_switch_handler(first);
        child->add_switch_handler(second);
        child->finally([&](CoroutineBase&) { finally_ran = true; });
        const auto subscription = subscribe(*child, [&](Event&, const Outcome&) { told = true; });
        delay(1h);
      });
    });
    EXPECT_EQ(thrown, "fermata::Error: handler failed");
    EXPECT_EQ(trace.substr(trace.size() - 4), "1F2F") << "the others are called all the same";
    EXPECT_TRUE(finally_ran);
    EXPECT_TRUE(told);
  }
}

TEST_F(SwitchHandlersTest, OfTheMainCoroutineStartWithIt) {
  const auto handler = recorder();
  runtime.add_main_start_handler(handler);
  runtime.add_main_start_handler(handler);
  const auto body = [this] {
    EXPECT_EQ(trace, "E") << "called once, before the body";
    suspend();
  };
  fixture.run(body);
  EXPECT_EQ(trace, "ELEF");
  trace.clear();
  fixture.run(body);
  EXPECT_EQ(trace, "ELEF") << "copied to the main coroutine of every run";
}

TEST_F(SwitchHandlersTest, CanBeAddedToTheCurrentCoroutine) {
  fixture.run([this] {
    EXPECT_EQ(add_switch_handler(recorder()), 0u);
    suspend();
  });
  EXPECT_EQ(trace, "LEF");
}

}  // namespace
}  // namespace fermata::test
