// SPDX-License-Identifier: Apache-2.0

// Which coroutine has which connection, and for how long.

#include <gtest/gtest.h>

#include <algorithm>
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
using Row = std::tuple<int, std::string, int>;

class DatabaseBinding : public RuntimeFixture {
 protected:
  static int connection_of(db::Database& database) {
    return std::get<0>(database.query_one<Row>("SELECT"));
  }
  /// Until the coroutines that clean up have ended.
  static void settle() { delay(1s); }

  std::shared_ptr<Script> script = std::make_shared<Script>();
  Strings& journal = script->journal;
};

MAIN_TEST_F(DatabaseBinding, BuildingADatabaseConnectsToNothing) {
  FERMATA_CHECKS("DB-01", "DB-07");
  auto database = scripted_database(script, {.min = 3});
  settle();
  EXPECT_FALSE(database.in_transaction());
  EXPECT_EQ(database.last_error().sqlstate, "00000");
  EXPECT_EQ(database.metrics().idle + database.metrics().active, 0u);
  EXPECT_EQ(script->connections, 0);
  database.execute("SELECT");
  settle();
  EXPECT_EQ(script->connections, 3);
  EXPECT_EQ(database.metrics().idle, 3u);
}

MAIN_TEST_F(DatabaseBinding, ACommandGivesItsConnectionBackAtOnce) {
  FERMATA_CHECKS("DB-05");
  auto database = scripted_database(script);
  EXPECT_EQ(database.query_one<Row>("SELECT $1", 5), (Row{1, "SELECT $1", 1}));
  const db::Effect effect = database.execute("INSERT");
  EXPECT_EQ(effect.affected_rows, 1u);
  EXPECT_EQ(effect.last_insert_id, 7);
  EXPECT_EQ(database.metrics().idle, 1u);
  EXPECT_EQ(database.metrics().acquired, 2u);
  EXPECT_EQ(journal, (Strings{"1 SELECT $1", "1 INSERT"}));
}

MAIN_TEST_F(DatabaseBinding, ATransactionKeepsItsConnectionAndOthersGetAnother) {
  FERMATA_CHECKS("DB-02", "DB-03", "DB-04");
  script->latency = 1ms;
  auto database = scripted_database(script);
  std::vector<std::vector<int>> seen(3);
  std::vector<Coroutine<>> workers;
  for (auto& mine : seen) {
    workers.push_back(spawn("worker", [&] {
      auto transaction = database.transaction();
      EXPECT_TRUE(database.in_transaction());
      for (int i = 0; i < 3; ++i) mine.push_back(connection_of(database));
      transaction.commit();
      EXPECT_FALSE(database.in_transaction());
    }));
  }
  for (const auto& worker : workers) await(worker);
  for (const auto& mine : seen) EXPECT_EQ(mine, std::vector<int>(3, mine[0]));
  EXPECT_NE(seen[0][0], seen[1][0]);
  EXPECT_NE(seen[1][0], seen[2][0]);
  EXPECT_EQ(database.metrics().idle, 3u);
}

MAIN_TEST_F(DatabaseBinding, TwoTransactionsOnOneConnectionAreSerial) {
  FERMATA_CHECKS("DB-15");
  script->latency = 1ms;
  auto database = scripted_database(script, {.max = 1});
  const auto transfer = [&](std::string what) {
    auto transaction = database.transaction();
    database.execute("UPDATE " + what);
    transaction.commit();
  };
  const auto a = spawn("a", [&] { transfer("a"); });
  const auto b = spawn("b", [&] { transfer("b"); });
  await(a);
  await(b);
  EXPECT_EQ(journal,
            (Strings{"1 BEGIN", "1 UPDATE a", "1 COMMIT", "1 BEGIN", "1 UPDATE b", "1 COMMIT"}));
  EXPECT_EQ(script->most_alive, 1u);
  EXPECT_GT(database.metrics().longest_wait, Duration::zero());
}

MAIN_TEST_F(DatabaseBinding, WhatACoroutineLeavesOpenIsRolledBackBeforeTheNextOneGetsIt) {
  FERMATA_CHECKS("DB-06", "DB-14", "DB-20");
  script->latency = 1ms;
  auto database = scripted_database(script, {.max = 1});
  const auto leaves = spawn("leaves", [&] {
    database.begin();
    database.execute("UPDATE");
  });
  const auto throws = spawn("throws", [&] {
    database.begin();
    throw Error("no");
  });
  const auto next = spawn("next", [&] { database.execute("SELECT"); });
  await(leaves);
  EXPECT_EQ(error_of([&] { await(throws); }), "no");
  await(next);
  settle();
  EXPECT_EQ(journal,
            (Strings{"1 BEGIN", "1 UPDATE", "1 ROLLBACK", "1 BEGIN", "1 ROLLBACK", "1 SELECT"}));
  EXPECT_EQ(database.metrics().idle, 1u);
}

MAIN_TEST_F(DatabaseBinding, ATransactionThatGoesOutOfScopeIsRolledBack) {
  FERMATA_CHECKS("DB-06");
  auto database = scripted_database(script, {.max = 1});
  {
    auto transaction = database.transaction();
    database.execute("UPDATE");
  }
  EXPECT_FALSE(database.in_transaction());
  settle();
  EXPECT_EQ(journal, (Strings{"1 BEGIN", "1 UPDATE", "1 ROLLBACK"}));
  EXPECT_EQ(database.metrics().idle, 1u);
  EXPECT_EQ(error_of([&] { database.in_one_transaction([] { throw Error("no"); }); }), "no");
  EXPECT_EQ(database.in_one_transaction([&] { return connection_of(database); }), 1);
}

MAIN_TEST_F(DatabaseBinding, ABeginInsideATransactionFailsAndLeavesItOpen) {
  FERMATA_CHECKS("DB-17");
  auto database = scripted_database(script);
  database.begin();
  EXPECT_EQ(error_of([&] { database.begin(); }),
            "database \"scripted://ann@/shop\": SQLSTATE 25001: There is already an active "
            "transaction");
  EXPECT_TRUE(database.in_transaction());
  database.commit();
  EXPECT_THROW(database.commit(), db::TransactionError);
  EXPECT_THROW(database.rollback(), db::TransactionError);
  EXPECT_EQ(journal, (Strings{"1 BEGIN", "1 COMMIT"}));
}

MAIN_TEST_F(DatabaseBinding, ATransactionBegunInSqlIsOneToo) {
  FERMATA_CHECKS("DB-04", "DB-06");
  auto database = scripted_database(script);
  await(spawn("raw", [&] {
    database.execute("BEGIN");
    EXPECT_TRUE(database.in_transaction());
    database.execute("UPDATE");
  }));
  settle();
  EXPECT_EQ(journal, (Strings{"1 BEGIN", "1 UPDATE", "1 ROLLBACK"}));
}

MAIN_TEST_F(DatabaseBinding, AFailedTransactionIsNotCommitted) {
  script->fails = {"UPDATE"};
  auto database = scripted_database(script);
  auto transaction = database.transaction();
  EXPECT_THROW(database.execute("UPDATE"), db::QueryError);
  EXPECT_THROW(transaction.commit(), db::QueryError);
  EXPECT_FALSE(database.in_transaction());
  EXPECT_EQ(journal, (Strings{"1 BEGIN", "1 UPDATE", "1 ROLLBACK"}));
}

MAIN_TEST_F(DatabaseBinding, SavepointsThatAreLeftAreRolledBackToBeforeTheNextCommand) {
  auto database = scripted_database(script);
  auto transaction = database.transaction();
  {
    auto kept = transaction.savepoint();
    kept.release();
    auto undone = transaction.savepoint();
    undone.roll_back();
    auto outer = transaction.savepoint();
    auto inner = transaction.savepoint();
  }
  database.execute("UPDATE");
  auto late = std::make_optional(transaction.savepoint());
  transaction.commit();
  auto other = database.transaction();
  late.reset();  // Its transaction has ended already.
  other.commit();
  EXPECT_EQ(journal, (Strings{"1 BEGIN", "1 SAVEPOINT fermata_1", "1 RELEASE SAVEPOINT fermata_1",
                              "1 SAVEPOINT fermata_2", "1 ROLLBACK TO SAVEPOINT fermata_2",
                              "1 SAVEPOINT fermata_3", "1 SAVEPOINT fermata_4",
                              "1 ROLLBACK TO SAVEPOINT fermata_3", "1 UPDATE",
                              "1 SAVEPOINT fermata_5", "1 COMMIT", "1 BEGIN", "1 COMMIT"}));
}

MAIN_TEST_F(DatabaseBinding, NothingIsDoneWhileASavepointCannotBeRolledBackTo) {
  script->fails = {"ROLLBACK TO SAVEPOINT fermata_1"};
  auto database = scripted_database(script);
  auto transaction = database.transaction();
  { auto left = transaction.savepoint(); }
  EXPECT_THROW(database.execute("UPDATE"), db::QueryError);
  EXPECT_THROW(database.execute("UPDATE"), db::QueryError);
  EXPECT_THROW(database.commit(), db::QueryError);
  transaction.rollback();
  EXPECT_EQ(script->journal.back(), "1 ROLLBACK");
  EXPECT_EQ(std::count(script->journal.begin(), script->journal.end(), "1 UPDATE"), 0);
}

MAIN_TEST_F(DatabaseBinding, AStatementKeepsItsConnectionLongerThanItsCoroutineAndItsDatabase) {
  FERMATA_CHECKS("DB-08");
  std::optional<db::Statement> statement;
  {
    auto database = scripted_database(script);
    await(spawn("makes it", [&] {
      database.begin();
      statement.emplace(database.prepare("SELECT"));
    }));
    settle();
    EXPECT_EQ(database.metrics().active, 1u);
  }
  EXPECT_EQ(statement->query_one<Row>(), (Row{1, "SELECT", 0}));
  statement.reset();
  settle();
  EXPECT_EQ(journal, (Strings{"1 BEGIN", "1 prepare SELECT", "1 SELECT", "1 ROLLBACK", "1 close"}));
}

MAIN_TEST_F(DatabaseBinding, TheErrorIsTheCoroutinesOwn) {
  FERMATA_CHECKS("DB-12", "DB-10");
  script->fails = {"BAD"};
  auto database = scripted_database(script);
  EXPECT_THROW(database.execute("BAD"), db::QueryError);
  EXPECT_EQ(database.last_error().sqlstate, "42000");
  await(spawn("other", [&] {
    EXPECT_EQ(database.last_error().sqlstate, "00000");
    database.execute("SELECT");
  }));
  EXPECT_EQ(database.last_error().sqlstate, "42000");
  database.execute("SELECT");
  EXPECT_EQ(database.last_error().sqlstate, "00000");
}

MAIN_TEST_F(DatabaseBinding, AnAnswerThatIsReadKeepsTheConnectionToItself) {
  auto database = scripted_database(script, {.max = 1});
  auto stream = database.stream<Row>("SELECT");
  EXPECT_EQ(stream.columns(), (Strings{"connection", "sql", "parameters"}));
  EXPECT_EQ(error_of([&] { database.execute("SELECT"); }),
            "database \"scripted://ann@/shop\": an answer is still being read: expected it read "
            "to its end, or dropped");
  EXPECT_TRUE(stream.next());
  EXPECT_FALSE(stream.next());
  EXPECT_FALSE(stream.next());
  EXPECT_EQ(database.metrics().idle, 1u);
  { auto dropped = database.stream("SELECT"); }
  database.execute("SELECT");
  settle();
  EXPECT_EQ(journal, (Strings{"1 SELECT", "1 SELECT", "1 interrupt", "1 SELECT"}));
}

TEST_F(DatabaseBinding, AClosedDatabaseGivesNoConnection) {
  std::optional<db::Database> database;
  fixture.run([&] {
    database.emplace(scripted_database(script));
    database->close();
    database->close();
    EXPECT_THROW(database->execute("SELECT"), PoolError);
    database.reset();
  });
}

}  // namespace
}  // namespace fermata::test
