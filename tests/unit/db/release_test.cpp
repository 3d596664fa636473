// SPDX-License-Identifier: Apache-2.0

// In what state a connection goes back, whatever has happened to it.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/db/database.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/runtime_fixture.hpp"
#include "tests/support/scripted_database.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;
using Strings = std::vector<std::string>;

class DatabaseRelease : public RuntimeFixture {
 protected:
  /// Runs `body` in a coroutine that is cancelled after some time, when it is in a command.
  static void cancel_after(Duration time, const std::function<void()>& body) {
    auto victim = spawn("victim", body);
    delay(time);
    victim.cancel();
    EXPECT_THROW(await(victim), Cancellation);
    settle();
  }
  /// Until the coroutines that clean up have ended.
  static void settle() { delay(1s); }

  std::shared_ptr<Script> script = std::make_shared<Script>();
  Strings& journal = script->journal;
};

MAIN_TEST_F(DatabaseRelease, ACancelledCommandIsStoppedBeforeAnybodyElseComes) {
  FERMATA_CHECKS("DB-11", "DB-06");
  script->latency = 2ms;
  auto database = scripted_database(script, {.max = 1});
  database.execute("SELECT");
  journal.clear();
  cancel_after(1ms, [&] { database.execute("SELECT slow"); });
  database.execute("SELECT next");
  settle();
  EXPECT_EQ(journal, (Strings{"1 SELECT slow", "1 interrupt", "1 SELECT next"}));
  EXPECT_EQ(database.metrics().idle, 1u);
}

MAIN_TEST_F(DatabaseRelease, ACancelledTransactionIsRolledBack) {
  FERMATA_CHECKS("DB-06", "DB-11");
  script->latency = 2ms;
  auto database = scripted_database(script, {.max = 1});
  database.execute("SELECT");
  journal.clear();
  cancel_after(1ms, [&] { auto transaction = database.transaction(); });
  cancel_after(3ms, [&] {
    database.begin();
    database.execute("UPDATE");
  });
  database.execute("SELECT");
  EXPECT_EQ(database.metrics().idle, 1u);
  EXPECT_EQ(journal, (Strings{"1 BEGIN", "1 interrupt", "1 BEGIN", "1 UPDATE", "1 interrupt",
                              "1 ROLLBACK", "1 SELECT"}));
}

MAIN_TEST_F(DatabaseRelease, ACancelledConnectLeavesNothing) {
  FERMATA_CHECKS("DB-15");
  script->latency = 2ms;
  auto database = scripted_database(script, {.max = 1});
  cancel_after(1ms, [&] { database.execute("SELECT"); });
  EXPECT_EQ(database.metrics().active, 0u);
  database.execute("SELECT");
  EXPECT_EQ(script->most_alive, 1u);
}

MAIN_TEST_F(DatabaseRelease, WhatMayHaveChangedTheSessionIsResetForTheNext) {
  FERMATA_CHECKS("DB-13");
  auto database = scripted_database(script, {.max = 1});
  await(spawn("setter", [&] {
    database.execute("SET x = 1");
    EXPECT_EQ(database.metrics().active, 1u);
    database.execute("SELECT");
    EXPECT_EQ(database.metrics().active, 1u);
  }));
  database.execute("SELECT");
  await(spawn("tidy", [&] {
    database.execute("SET x = 1");
    database.reset_session();
    EXPECT_EQ(database.metrics().idle, 1u);
  }));
  settle();
  EXPECT_EQ(journal,
            (Strings{"1 SET x = 1", "1 SELECT", "1 reset", "1 SELECT", "1 SET x = 1", "1 reset"}));
}

MAIN_TEST_F(DatabaseRelease, ABrokenConnectionIsNeverHandedOut) {
  FERMATA_CHECKS("DB-09", "DB-10");
  script->kills = {"KILL"};
  auto database = scripted_database(script, {.max = 1});
  EXPECT_THROW(database.execute("KILL"), db::ConnectionLost);
  database.execute("SELECT");
  EXPECT_EQ(journal, (Strings{"1 KILL", "1 close", "2 SELECT"}));
  script->gone = {2};
  database.execute("SELECT");
  EXPECT_EQ(journal.back(), "3 SELECT");
  EXPECT_EQ(database.metrics().broken, 1u);
  EXPECT_EQ(database.metrics().idle, 1u);
}

MAIN_TEST_F(DatabaseRelease, ATransactionThatHasLostItsConnectionFailsUntilItsRollback) {
  FERMATA_CHECKS("DB-10");
  script->kills = {"KILL"};
  auto database = scripted_database(script, {.max = 1});
  database.begin();
  EXPECT_THROW(database.execute("KILL"), db::ConnectionLost);
  EXPECT_THROW(database.execute("SELECT"), db::TransactionLost);
  EXPECT_THROW(database.commit(), db::TransactionLost);
  EXPECT_TRUE(database.in_transaction());
  database.rollback();
  EXPECT_FALSE(database.in_transaction());
  database.execute("SELECT");
  EXPECT_EQ(journal, (Strings{"1 BEGIN", "1 KILL", "1 close", "2 SELECT"}));
}

MAIN_TEST_F(DatabaseRelease, ADatabaseThatGoesWhileItCleansUpClosesTheConnectionOnce) {
  FERMATA_CHECKS("DB-06", "DB-14");
  script->latency = 2ms;
  {
    auto database = scripted_database(script);
    await(spawn("leaves", [&] { database.begin(); }));
    delay(1ms);
    EXPECT_EQ(journal.back(), "1 ROLLBACK");
  }
  settle();
  EXPECT_EQ(journal, (Strings{"1 BEGIN", "1 ROLLBACK", "1 close"}));
  EXPECT_TRUE(script->alive.empty());
}

MAIN_TEST_F(DatabaseRelease, ACleanUpThatTakesTooLongEndsTheConnection) {
  auto database = scripted_database(script, {.max = 1, .cleanup_limit = 1ms});
  await(spawn("leaves", [&] {
    database.begin();
    script->latency = 1h;
  }));
  delay(10ms);
  script->latency = Duration::zero();
  database.execute("SELECT");
  EXPECT_EQ(journal, (Strings{"1 BEGIN", "1 ROLLBACK", "1 close", "2 SELECT"}));
}

MAIN_TEST_F(DatabaseRelease, PreparedCommandsAreKeptAndMadeAnew) {
  auto database = scripted_database(script, {.max = 1, .statement_cache = 1});
  const auto use = [&](const char* sql) { database.prepare(sql).execute(); };
  use("SELECT a");
  use("SELECT a");
  script->stale = {"SELECT a"};
  use("SELECT a");
  use("SELECT b");
  use("SELECT a");
  EXPECT_EQ(journal, (Strings{"1 prepare SELECT a", "1 SELECT a", "1 SELECT a",
                              "1 prepare SELECT a", "1 SELECT a", "1 prepare SELECT b",
                              "1 SELECT b", "1 prepare SELECT a", "1 SELECT a"}));
}

// The server has forgotten it, and a transaction would not survive being told so.
MAIN_TEST_F(DatabaseRelease, AStatementIsMadeAnewAfterItsSessionWas) {
  auto database = scripted_database(script, {.max = 1, .statement_cache = 1});
  {
    auto statement = database.prepare("SELECT a");
    database.reset_session();
    database.begin();
    statement.execute();
    statement.execute();
    database.commit();
    database.reset_session();
  }
  database.prepare("SELECT a").execute();
  EXPECT_EQ(journal,
            (Strings{"1 prepare SELECT a", "1 reset", "1 BEGIN", "1 prepare SELECT a", "1 SELECT a",
                     "1 SELECT a", "1 COMMIT", "1 reset", "1 prepare SELECT a", "1 SELECT a"}));
}

// Its coroutine goes on with the same connection, and was told that there is no transaction.
MAIN_TEST_F(DatabaseRelease, ATransactionThatWasInterruptedAtItsBeginIsNone) {
  auto database = scripted_database(script, {.max = 1});
  script->is_quick = true;
  auto worker = spawn([&] {
    database.execute("SET x");
    script->latency = 1h;
    EXPECT_THROW(database.begin(), Cancellation);
    EXPECT_FALSE(database.in_transaction());
    database.execute("UPDATE");
    EXPECT_FALSE(database.in_transaction());
  });
  delay(1ms);
  script->latency = Duration::zero();
  worker.cancel();
  await(worker);
  delay(1ms);
  EXPECT_EQ(journal,
            (Strings{"1 SET x", "1 BEGIN", "1 interrupt", "1 ROLLBACK", "1 UPDATE", "1 reset"}));
}

MAIN_TEST_F(DatabaseRelease, ATransactionThatWasInterruptedAtItsEndIsOverWhenItIs) {
  auto database = scripted_database(script, {.max = 1});
  script->is_quick = true;
  auto worker = spawn([&] {
    database.execute("SET x");
    database.begin();
    script->latency = 1h;
    EXPECT_THROW(database.commit(), Cancellation);
    database.rollback();
    EXPECT_FALSE(database.in_transaction());
    EXPECT_THROW(database.commit(), db::TransactionError);
  });
  delay(1ms);
  script->latency = Duration::zero();
  worker.cancel();
  await(worker);
  delay(1ms);
  EXPECT_EQ(journal, (Strings{"1 SET x", "1 BEGIN", "1 COMMIT", "1 interrupt", "1 reset"}));
}

}  // namespace
}  // namespace fermata::test
