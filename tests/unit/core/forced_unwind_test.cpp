// SPDX-License-Identifier: Apache-2.0

// The last resort: a coroutine that still waits when the run is over is unwound by force.

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/impatient.hpp"
#include "tests/support/runtime_fixture.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

/// Sets a flag when it is destroyed, after an attempt to suspend.
struct Unwound {
  ~Unwound() {
    suspend();  // Without a value: it returns at once.
    delay(1h);
    flag = true;
  }
  bool& flag;
};

class ForcedUnwindTest : public RuntimeFixture {
 protected:
  /// Ends a run by force while `handler` waits: it starts when all has been cancelled already, so
  /// that nobody cancels it. Returns what the run throws.
  std::string run_with_last(const FinallyHandler& handler) {
    return thrown_by([&] {
      fixture.run([&] {
        const auto job = spawn("job", [] {
          EXPECT_THROW(delay(1h), Cancellation);
          delay(1h);
        });
        job->finally(handler);
        suspend();
        shutdown();
        const auto failing = spawn([] {});
        failing->finally([](CoroutineBase&) { throw Error("ends it by force"); });
      });
    });
  }

  Ref<PlainEvent> never = make_event<PlainEvent>(runtime);
};

TEST_F(ForcedUnwindTest, DestroysWhatStillWaits) {
  FERMATA_CHECKS("CORE-SC-14", "CORE-GL-09");
  bool unwound = false;
  EXPECT_EQ(run_with_last([&](CoroutineBase&) {
              const Unwound guard{unwound};
              wait(*never);
            }),
            "fermata::Error: ends it by force");
  EXPECT_TRUE(unwound);
  EXPECT_TRUE(runtime.registry().empty());
  EXPECT_EQ(never->callbacks().size(), 0u);
  EXPECT_EQ(runtime.scheduler().contexts().stats().live, 0u);
}

TEST_F(ForcedUnwindTest, LosesNoErrorThatComesToLightThen) {
  FERMATA_CHECKS("CORE-GL-05", "CORE-SC-15");
  auto failed = std::make_shared<Coroutine<>>();
  EXPECT_EQ(thrown_by([&] {
              fixture.run([&] {
                *failed = spawn([] { throw Error("held to the end"); });
                const auto job = spawn([] {
                  EXPECT_THROW(delay(1h), Cancellation);
                  delay(1h);
                });
                job->finally([this, held = std::exchange(failed, nullptr)](CoroutineBase&) {
                  wait(*never);
                });
                delay(1ms);
                shutdown();
                spawn([] {})->finally([](CoroutineBase&) { throw Error("ends it by force"); });
              });
            }),
            "fermata::Error: held to the end\n  previous: fermata::Error: ends it by force");
}

TEST_F(ForcedUnwindTest, IsNoticedWhenItIsSwallowed) {
  EXPECT_EQ(run_with_last([this](CoroutineBase&) {
              try {
                wait(*never);
              } catch (...) {
              }
            }),
            "fermata::Error: ends it by force");
  EXPECT_NE(fixture.log.find("'job.finally' spawned at"), std::string::npos) << fixture.log;
  EXPECT_NE(fixture.log.find(" has swallowed its forced unwinding\n"), std::string::npos);
}

TEST(AbandonedRun, UnwindsEverybodyWithoutCancellation) {
  FERMATA_CHECKS("CORE-SC-14");
  Impatient observer(5);
  RuntimeOptions options;
  options.observer = &observer;
  TestRuntime fixture(options);
  bool cancelled = false;
  bool finally_ran = false;
  int unwound = 0;
  struct Count {
    ~Count() { ++number; }
    int& number;
  };
  EXPECT_EQ(thrown_by([&] {
              fixture.run([&] {
                const auto body = [&] {
                  const Count count{unwound};
                  try {
                    for (;;) suspend();
                  } catch (const Cancellation&) {
                    cancelled = true;
                  }
                };
                for (int i = 0; i < 3; ++i) {
                  spawn(body)->finally([&](CoroutineBase&) { finally_ran = true; });
                }
                const auto sleeper = spawn([&] {
                  const Count count{unwound};
                  delay(1h);
                });
                await(sleeper);
              });
            }),
            "fermata::backend::AbandonRun");
  EXPECT_EQ(unwound, 4);
  EXPECT_FALSE(cancelled);
  EXPECT_FALSE(finally_ran);
  EXPECT_TRUE(fixture.runtime.registry().empty());
  EXPECT_EQ(fixture.runtime.active_event_count(), 0u);
  EXPECT_EQ(fixture.runtime.blocks().blocks_in_use(), 0u);
  EXPECT_EQ(fixture.run([] { return 8; }), 8) << "and the runtime can run again";
}

}  // namespace
}  // namespace fermata::test
