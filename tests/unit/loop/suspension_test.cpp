// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/suspension.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/loop/fiber_local.hpp"
#include "fermata/loop/loop.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/arms.hpp"
#include "tests/conformance/main_typed_test.hpp"

namespace fermata::loop {
namespace {

using namespace std::chrono_literals;
using Order = std::vector<std::string>;

template <class Arm>
class SuspensionTest : public ::testing::Test {
 protected:
  Order order;
};
TYPED_TEST_SUITE(SuspensionTest, conformance::Arms);

TYPED_TEST(SuspensionTest, SuspendsACallbackAndTheLoopGoesOn) {
  TypeParam::run([this] {
    Loop loop;
    loop.defer([&] {
      const Suspension me = loop.suspension();
      EXPECT_EQ(me, loop.suspension());
      loop.defer([&, me] {
        me.resume(42);
        this->order.emplace_back("resumed");
      });
      this->order.emplace_back("suspends");
      EXPECT_EQ(me.suspend_for<int>(), 42);
      this->order.emplace_back("goes on");
    });
    loop.defer([&] { this->order.emplace_back("sibling"); });
    EXPECT_EQ(loop.run().suspended, 0u);
  });
  EXPECT_EQ(this->order, (Order{"suspends", "sibling", "resumed", "goes on"}));
}

TYPED_TEST(SuspensionTest, SuspendsMainWhichRunsTheLoop) {
  TypeParam::run([this] {
    Loop loop;
    const Suspension main = loop.suspension();
    loop.defer([&] { main.resume(std::string("value")); });
    loop.defer([&] { this->order.emplace_back("the rest"); });
    EXPECT_EQ(main.suspend_for<std::string>(), "value");
    EXPECT_TRUE(this->order.empty());
    loop.run();
    EXPECT_EQ(this->order, Order{"the rest"});
  });
}

TYPED_TEST(SuspensionTest, ResumesInTheOrderOfTheMicrotasks) {
  TypeParam::run([this] {
    Loop loop;
    std::vector<Suspension> suspensions(3);
    for (const int at : {0, 1, 2}) {
      loop.defer([&, at] {
        suspensions[static_cast<std::size_t>(at)] = loop.suspension();
        suspensions[static_cast<std::size_t>(at)].suspend();
        this->order.push_back("fiber " + std::to_string(at));
      });
    }
    loop.delay(1ms, [&] {
      suspensions[0].resume();
      loop.queue([&] { this->order.emplace_back("task 0"); });
      suspensions[1].resume();
      loop.queue([&] { this->order.emplace_back("task 1"); });
      suspensions[2].resume();
      this->order.emplace_back("resumer");
    });
    loop.run();
  });
  EXPECT_EQ(this->order, (Order{"resumer", "fiber 0", "task 0", "fiber 1", "task 1", "fiber 2"}));
}

MAIN_TYPED_TEST(SuspensionTest, RefusesASecondResume) {
  Loop loop;
  const Suspension main = loop.suspension();
  EXPECT_THROW(main.resume(), SuspensionError);
  loop.queue([&] {
    main.resume(1);
    EXPECT_THROW(main.resume(2), SuspensionError);
  });
  EXPECT_EQ(main.suspend_for<int>(), 1);
  EXPECT_THROW(main.resume(), SuspensionError);
}

MAIN_TYPED_TEST(SuspensionTest, ATicketIsForOneSuspension) {
  Loop loop;
  const Suspension main = loop.suspension();
  const Ticket first = main.ticket();
  EXPECT_FALSE(first.valid());
  EXPECT_THROW(first.resume(), SuspensionError);
  loop.queue([&] { first.resume(); });
  main.suspend();
  loop.queue([&] {
    EXPECT_FALSE(first.valid());
    const Ticket second = main.ticket();
    EXPECT_TRUE(second.fail(std::make_exception_ptr(Timeout("late"))));
  });
  EXPECT_THROW(main.suspend(), Timeout);
}

MAIN_TYPED_TEST(SuspensionTest, AStaleSuspensionResumesNobodyElse) {
  Loop loop;
  Suspension stale;
  int suspended = 0;
  loop.defer([&] { stale = loop.suspension(); });
  loop.defer([&] {
    const Suspension me = loop.suspension();
    EXPECT_NE(me, stale);
    loop.defer([&, me] {
      try {
        EXPECT_FALSE(stale.resume());
      } catch (const SuspensionError&) {
      }
      ++suspended;
      me.resume();
    });
    me.suspend();
    ++suspended;
  });
  loop.run();
  EXPECT_EQ(suspended, 2);
}

MAIN_TYPED_TEST(SuspensionTest, TellsADeadlockAndGoesOn) {
  Loop loop;
  std::vector<Suspension> others;
  for (int i = 0; i < 2; ++i) {
    loop.defer([&] {
      others.push_back(loop.suspension());
      others.back().suspend();
    });
  }
  const Suspension main = loop.suspension();
  try {
    main.suspend();
    ADD_FAILURE() << "no deadlock";
  } catch (const LoopDeadlock& error) {
    EXPECT_EQ(error.suspended().size(), 2u);
    EXPECT_NE(std::string(error.what()).find("suspension_test.cpp"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(main.suspend(), SuspensionError);
  EXPECT_FALSE(main.resume());
  const Suspension fresh = loop.suspension();
  EXPECT_NE(fresh, main);
  loop.queue([&] {
    for (const Suspension& other : others) other.resume();
    fresh.resume();
  });
  fresh.suspend();
  EXPECT_EQ(loop.run().suspended, 0u);
}

MAIN_TYPED_TEST(SuspensionTest, StopUnderASuspendedMainIsADeadlock) {
  Loop loop;
  loop.defer([&] { loop.stop(); });
  EXPECT_THROW(loop.suspension().suspend(), LoopDeadlock);
  EXPECT_FALSE(loop.run().stopped);
}

MAIN_TYPED_TEST(SuspensionTest, AnErrorKillsMainsSuspension) {
  Loop loop;
  const Suspension main = loop.suspension();
  loop.queue([] { throw Timeout("late"); });
  EXPECT_THROW(main.suspend(), UncaughtError);
  EXPECT_FALSE(main.resume());
  EXPECT_THROW(main.suspend(), SuspensionError);
  loop.run();
}

MAIN_TYPED_TEST(SuspensionTest, MasksASourceWhileItsCallIsSuspended) {
  Loop loop;
  int calls = 0;
  loop.repeat(1ms, [&](CallbackId id) {
    ++calls;
    fermata::delay(20ms);
    EXPECT_EQ(calls, 1);
    loop.cancel(id);
  });
  EXPECT_EQ(loop.run().suspended, 0u);
  EXPECT_EQ(calls, 1);
}

MAIN_TYPED_TEST(SuspensionTest, CallsAgainMeanwhileWithOverlap) {
  Loop loop({.overlap = true});
  int calls = 0;
  loop.repeat(1ms, [&](CallbackId id) {
    if (++calls == 3) loop.cancel(id);
    fermata::delay(50ms);
  });
  EXPECT_EQ(loop.run().suspended, 3u);
  fermata::delay(200ms);
  EXPECT_EQ(loop.run().suspended, 0u);
}

MAIN_TYPED_TEST(SuspensionTest, ManySuspensionsInARow) {
  Loop loop;
  int rounds = 0;
  loop.repeat(0, [&](CallbackId id) {
    const Suspension me = loop.suspension();
    loop.defer([me] { me.resume(); });
    me.suspend();
    if (++rounds == 1000) loop.cancel(id);
  });
  EXPECT_EQ(loop.run().suspended, 0u);
  EXPECT_EQ(rounds, 1000);
}

TYPED_TEST(SuspensionTest, UnwindsWhoIsSuspendedWhenTheLoopEnds) {
  bool unwound = false;
  TypeParam::run([&] {
    Suspension kept;
    {
      Loop loop;
      loop.defer([&] {
        struct Flag {
          bool& flag;
          ~Flag() { flag = true; }
        } flag{unwound};
        kept = loop.suspension();
        kept.suspend();
      });
      EXPECT_EQ(loop.run().suspended, 1u);
      EXPECT_EQ(loop.suspended().size(), 1u);
      if (!TypeParam::kReal) {  // Where a loop that ends with suspended callbacks is a failure.
        kept.resume();
        loop.run();
      }
    }
    fermata::suspend();
  });
  EXPECT_TRUE(unwound);
}

/// Suspends again in its destructor.
struct SuspendsAgain {
  explicit SuspendsAgain(const Suspension& mine) : suspension(mine) {}
  SuspendsAgain(const SuspendsAgain&) = delete;
  SuspendsAgain& operator=(const SuspendsAgain&) = delete;
  ~SuspendsAgain() { suspension.suspend(); }
  Suspension suspension;
};

/// The program of main, whose loop goes under a suspended callback because main fails.
template <class Callback>
void fail_over(const Callback& callback) {
  Loop loop;
  loop.defer([&, callback] { callback(loop.suspension()); });
  EXPECT_EQ(loop.run().suspended, 1u);
  throw Error("main's own");
}

bool is_mains_own(const std::string& text) {
  return text == "main's own" || text == "fermata::Error: main's own";
}

TYPED_TEST(SuspensionTest, ADestructorThatSuspendsAfterTheEndGoesOn) {
  bool unwound = false;
  const std::string thrown = TypeParam::error_of([&] {
    fail_over([&unwound](const Suspension& mine) {
      struct Flag {
        bool& flag;
        ~Flag() { flag = true; }
      } const flag{unwound};
      const SuspendsAgain again(mine);
      mine.suspend();
    });
  });
  EXPECT_TRUE(is_mains_own(thrown)) << thrown;
  EXPECT_TRUE(unwound);
}

TYPED_TEST(SuspensionTest, RefusesWhoSuspendsAgainAfterTheEnd) {
  std::string refusal;
  const std::string thrown = TypeParam::error_of([&] {
    fail_over([&refusal](const Suspension& mine) {
      try {
        mine.suspend();
      } catch (const Cancellation&) {
        try {
          mine.suspend();
        } catch (const SuspensionError& error) {
          refusal = error.what();
          EXPECT_FALSE(mine.pending());
          throw;
        }
      }
    });
  });
  EXPECT_EQ(refusal, "suspend: the event loop has ended");
  EXPECT_TRUE(is_mains_own(thrown)) << thrown;
}

TYPED_TEST(SuspensionTest, TellsWhatACallbackThrowsAfterTheEnd) {
  bool handled = false;
  const std::string thrown = TypeParam::error_of([&] {
    Loop loop;
    loop.set_error_handler([&](const std::exception_ptr&) { handled = true; });
    loop.defer([&loop] {
      try {
        loop.suspension().suspend();
      } catch (const Cancellation&) {
        throw Error("the clean-up has failed");
      }
    });
    loop.run();
    throw Error("main's own");
  });
  EXPECT_NE(thrown.find("the clean-up has failed"), std::string::npos) << thrown;
  EXPECT_FALSE(handled) << "by the handler of a loop that is gone";
}

TYPED_TEST(SuspensionTest, TellsTheCoroutinesBesideALoopThatItHasEnded) {
  TypeParam::run([this] {
    std::vector<Coroutine<>> beside;
    std::vector<Suspension> suspensions;
    {
      Loop loop;
      loop.delay(1ms, [] {});
      for (const std::string name : {"answered", "left alone"}) {
        beside.push_back(fermata::spawn(name, [&, name] {
          const Suspension mine = loop.suspension();
          suspensions.push_back(mine);
          try {
            this->order.push_back(name + " " + mine.suspend_for<std::string>());
          } catch (const SuspensionError& error) {
            this->order.push_back(name + ": " + error.what());
          }
          EXPECT_THROW(mine.suspend(), SuspensionError);
        }));
      }
      loop.run();
      ASSERT_EQ(suspensions.size(), 2u);
      EXPECT_TRUE(suspensions[0].resume(std::string("in time")));
    }
    EXPECT_FALSE(suspensions[1].resume(std::string("late")));
    for (const auto& each : beside) await(each);
  });
  EXPECT_EQ(this->order,
            (Order{"answered in time", "left alone: suspend: the event loop has ended"}));
}

MAIN_TYPED_TEST(SuspensionTest, KeepsFiberLocalValuesApart) {
  Loop loop;
  int made = 0;
  FiberLocal<int> value([&] { return ++made; });
  EXPECT_EQ(value.get(), 1);
  loop.defer([&] {
    EXPECT_EQ(value.get(), 2);
    value.set(10);
    const Suspension me = loop.suspension();
    loop.defer([&, me] {
      EXPECT_EQ(value.get(), 3);
      me.resume();
    });
    me.suspend();
    EXPECT_EQ(value.get(), 10);
    value.unset();
    EXPECT_EQ(value.get(), 4);
  });
  loop.run();
  EXPECT_EQ(value.get(), 1);
  value.unset();
  EXPECT_EQ(value.get(), 5);
}

MAIN_TYPED_TEST(SuspensionTest, AnInitializerThatThrowsIsTriedAgain) {
  Loop loop;
  int tries = 0;
  FiberLocal<int*> value([&]() -> int* {
    if (++tries == 1) throw Timeout("late");
    return nullptr;
  });
  EXPECT_THROW(static_cast<void>(value.get()), Timeout);
  EXPECT_EQ(value.get(), nullptr);
  EXPECT_EQ(value.get(), nullptr);
  EXPECT_EQ(tries, 2);
}

}  // namespace
}  // namespace fermata::loop
