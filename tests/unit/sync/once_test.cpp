// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/once.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;
using Names = std::vector<std::string>;

class OnceTest : public RuntimeFixture {
 protected:
  /// Does it, in one step and some, or waits for who does; throws when `fails`.
  Coroutine<> spawn_caller(Once& once, const char* name, bool fails = false) {
    return spawn(std::string(name), [this, &once, name, fails] {
      once.call([&] {
        doers.emplace_back(name);
        suspend();
        if (fails) throw Error(std::string(name) + " failed");
      });
      EXPECT_TRUE(once.is_done());
    });
  }

  Names doers;
};

MAIN_TEST_F(OnceTest, IsDoneByTheFirstAndOthersWait) {
  Once once;
  const auto a = spawn_caller(once, "a");
  const auto b = spawn_caller(once, "b");
  const auto c = spawn_caller(once, "c");
  suspend();
  EXPECT_FALSE(b->is_completed());
  for (const auto& caller : {c, b, a}) await(caller);
  EXPECT_EQ(doers, Names{"a"});
  const Metrics before = fixture.runtime.metrics();
  once.call([] { FAIL() << "it is done"; });
  EXPECT_EQ(fixture.runtime.metrics().ticks, before.ticks);
}

MAIN_TEST_F(OnceTest, IsDoneByTheNextWhenOneFails) {
  Once once;
  const auto a = spawn_caller(once, "a", true);
  const auto b = spawn_caller(once, "b", true);
  const auto c = spawn_caller(once, "c");
  const auto d = spawn_caller(once, "d");
  EXPECT_EQ(thrown_by([&] { await(a); }), "fermata::Error: a failed");
  EXPECT_EQ(thrown_by([&] { await(b); }), "fermata::Error: b failed");
  await(c);
  await(d);
  EXPECT_EQ(doers, (Names{"a", "b", "c"}));
}

MAIN_TEST_F(OnceTest, IsDoneByTheNextWhenOneIsCancelled) {
  Once once;
  const auto a = spawn_caller(once, "a");
  const auto b = spawn_caller(once, "b");
  suspend();
  a.cancel();
  await(b);
  EXPECT_THROW(await(a), Cancellation);
  EXPECT_EQ(doers, (Names{"a", "b"}));
}

MAIN_TEST_F(OnceTest, GoesToTheNextWhenTheNextIsCancelledToo) {
  Once once;
  const auto a = spawn_caller(once, "a", true);
  const auto b = spawn_caller(once, "b");
  const auto c = spawn_caller(once, "c");
  const auto canceller = spawn([&] {
    while (!a->is_completed()) suspend();
    b.cancel();
  });
  await(c);
  EXPECT_THROW(await(a), Error);
  EXPECT_THROW(await(b), Cancellation);
  EXPECT_EQ(doers, (Names{"a", "c"}));
}

MAIN_TEST_F(OnceTest, LetsNobodyInBeforeTheWaiterWhoseTurnItIs) {
  Once once;
  const auto a = spawn_caller(once, "a", true);
  const auto b = spawn_caller(once, "b");
  while (!a->is_completed()) suspend();
  once.call([this] { doers.emplace_back("barger"); });
  EXPECT_EQ(doers, (Names{"a", "b"}));
  EXPECT_THROW(await(a), Error);
  await(b);
}

MAIN_TEST_F(OnceTest, GivesUpWaiting) {
  Once once;
  const auto slow = spawn([&] { once.call([] { delay(10ms); }); });
  suspend();
  EXPECT_THROW(once.call([] {}, {.timeout = 0ms}), Timeout);
  EXPECT_THROW(once.call([] {}, {.timeout = 1ms}), Timeout);
  const auto token = spawn([] {});
  EXPECT_THROW(once.call([] {}, {.token = &*token}), OperationCancelled);
  await(slow);
  once.call([] {}, {.token = &*token});
}

MAIN_TEST_F(OnceTest, CannotWaitForItself) {
  Once once("schema", {"db.cpp", "", 5});
  once.call(
      [&] {
        EXPECT_EQ(once.info(),
                  "Once 'schema' created at db.cpp:5, being done by 'main' since "
                  "db.cpp:40");
        EXPECT_EQ(thrown_by([&] {
                    once.call([] {}, {}, {"db.cpp", "", 41});
                  }),
                  "fermata::UsageError: Once 'schema' created at db.cpp:5: call at db.cpp:41 "
                  "from inside, by 'main' since db.cpp:40: it would wait for itself");
      },
      {}, {"db.cpp", "", 40});
  EXPECT_EQ(once.info(), "Once 'schema' created at db.cpp:5, done");
}

}  // namespace
}  // namespace fermata::test
