// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/waits/stuck.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "fermata/core/scope.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/channel.hpp"
#include "fermata/sync/mutex.hpp"
#include "fermata/sync/semaphore.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

class StuckTest : public test::OneWorldFixture {
 protected:
  StuckTest() : OneWorldFixture("fifo") {}

  void run(const std::function<void()>& main) {
    begin();
    world_.node("main", main);
    world_.run();
  }

  static std::string stuck() {
    detail::StuckSearch search;
    return detail::labels_of(search.search(current_runtime()));
  }
};

/// Two coroutines that nobody has a handle to lock `left` and `right`, each in its own order.
void cross(Mutex& left, Mutex& right) {
  const auto lock_both = [](Mutex& first, Mutex& second) {
    const Mutex::Guard one(first);
    suspend();
    const Mutex::Guard two(second);
  };
  spawn("a", [&, lock_both] { lock_both(left, right); });
  spawn("b", [&, lock_both] { lock_both(right, left); });
}

TEST_F(StuckTest, ARingOfMutexesThatNobodyCanReach) {
  std::string found;
  std::unique_ptr<Mutex> left;  // They outlive main: what is unwound after it still unlocks them.
  std::unique_ptr<Mutex> right;
  run([&] {
    left = std::make_unique<Mutex>();
    right = std::make_unique<Mutex>();
    cross(*left, *right);
    delay(1ms);
    found = stuck();
    delay(1ms);
  });
  EXPECT_EQ(found, "'a', 'b'");
}

TEST_F(StuckTest, NotOneThatATimeoutEnds) {
  std::string found = "?";
  run([&] {
    Mutex left;
    Mutex right;
    const auto lock_both = [](Mutex& first, Mutex& second, const WaitOptions& options) {
      try {
        const Mutex::Guard one(first);
        suspend();
        const Mutex::Guard two(second, options);
      } catch (const Timeout&) {
      }
    };
    spawn("a", [&] { lock_both(left, right, {}); });
    spawn("b", [&] { lock_both(right, left, {.timeout = 1s}); });
    delay(1ms);
    found = stuck();
    delay(2s);
  });
  EXPECT_EQ(found, "");
  EXPECT_FALSE(world_.failure());
}

TEST_F(StuckTest, NotOneThatAHandleReaches) {
  std::string held;
  std::string let_go;
  run([&] {
    Coroutine<> a;
    Coroutine<> b;
    a = spawn("a", [&] { wait(*b); });
    b = spawn("b", [&] { wait(*a); });
    delay(1ms);
    held = stuck();
    a = {};
    b = {};
    let_go = stuck();
  });
  EXPECT_EQ(held, "");
  EXPECT_EQ(let_go, "'a', 'b'");
}

TEST_F(StuckTest, NotOneThatAScopeCancels) {
  std::string found = "?";
  run([&] {
    Mutex left;
    Mutex right;
    Scope scope = Scope::detached("crossing");
    scope.spawn("a", [&] {
      const Mutex::Guard one(left);
      suspend();
      const Mutex::Guard two(right);
    });
    scope.spawn("b", [&] {
      const Mutex::Guard one(right);
      suspend();
      const Mutex::Guard two(left);
    });
    delay(1ms);
    found = stuck();
    scope.cancel();
    delay(1ms);
  });
  EXPECT_EQ(found, "");
  EXPECT_FALSE(world_.failure());
}

TEST_F(StuckTest, WhoWaitsForOneOfThemIsStuckToo) {
  std::string found;
  run([&] {
    Mutex mutex;
    spawn("late", [&] {
      delay(1us);
      mutex.lock();
    });
    spawn("gone", [&] { mutex.lock(); });
    delay(1ms);
    found = stuck();
  });
  EXPECT_EQ(found, "'late'");
}

TEST_F(StuckTest, NotForWhatAnybodyMightDo) {
  std::string found = "?";
  run([&] {
    Semaphore permits(0);
    const Channel<int> channel("values", 1);
    spawn("acquirer", [&] { permits.acquire(); });
    spawn("receiver", [&] { static_cast<void>(channel.recv()); });
    delay(1ms);
    found = stuck();
    permits.release();
    channel.send(1);
    delay(1ms);
  });
  EXPECT_EQ(found, "");
  EXPECT_FALSE(world_.failure());
}

}  // namespace
}  // namespace fermata::sim
