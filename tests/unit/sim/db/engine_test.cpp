// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/db/engine.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/sim/db/sql_error.hpp"

namespace fermata::sim::sql {
namespace {

using namespace std::chrono_literals;
using db::TransactionState;

std::string text_of(const db::Value& value) {
  struct Text {
    std::string operator()(db::Null) const { return "NULL"; }
    std::string operator()(bool truth) const { return truth ? "true" : "false"; }
    std::string operator()(std::int64_t integer) const { return std::to_string(integer); }
    std::string operator()(double number) const { return fmt::format("{}", number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const db::Bytes& bytes) const {
      return fmt::format("{} bytes", bytes.size());
    }
  };
  return std::visit(Text(), value);
}

/// What a command answers: "1,ann 2,bob", "3 rows" or "42P01".
std::string answer(Session& session, std::string_view sql,
                   const std::vector<db::Value>& parameters = {}) {
  try {
    const Result result = session.execute(sql, parameters);
    if (result.columns.empty()) return fmt::format("{} rows", result.affected_rows);
    std::vector<std::string> rows;
    for (const Row& row : result.rows) {
      std::vector<std::string> cells;
      for (const db::Value& value : row) cells.push_back(text_of(value));
      rows.push_back(fmt::format("{}", fmt::join(cells, ",")));
    }
    return fmt::format("{}", fmt::join(rows, " "));
  } catch (const SqlError& error) {
    return error.sqlstate();
  }
}

class EngineTest : public ::testing::Test {
 protected:
  std::string say(std::string_view sql, const std::vector<db::Value>& parameters = {}) {
    return answer(session_, sql, parameters);
  }
  std::string other(std::string_view sql, const std::vector<db::Value>& parameters = {}) {
    return answer(other_, sql, parameters);
  }
  void make_accounts() {
    ASSERT_EQ(say("CREATE TABLE account (id INTEGER PRIMARY KEY, owner TEXT, cents BIGINT)"),
              "0 rows");
    ASSERT_EQ(say("INSERT INTO account VALUES (1, 'ann', 100), (2, 'bob', 50), (3, 'cid', NULL)"),
              "3 rows");
  }

  Database database_{"bank"};
  Session session_{database_};
  Session other_{database_};
};

TEST_F(EngineTest, Calculates) {
  EXPECT_EQ(say("SELECT 1 + 2 * 3, -(4 - 6), 1.5 + 1, 'it''s'"), "7,2,2.5,it's");
  EXPECT_EQ(say("select 1 < 2, 2 <> 2, 'a' < 'b', 1 = 1.0, NULL = NULL, NULL IS NULL"),
            "true,false,true,true,NULL,true");
  EXPECT_EQ(say("SELECT TRUE AND NULL, FALSE AND NULL, TRUE OR NULL, NOT TRUE"),
            "NULL,false,true,false");
  EXPECT_EQ(say("SELECT $2, $1 + 1;", {std::int64_t{41}, std::string("text")}), "text,42");
  EXPECT_EQ(say("SELECT connection_id() -- a comment"), std::to_string(session_.id()));
  EXPECT_EQ(say("SELECT 9223372036854775807 + 1"), "22003");
  EXPECT_EQ(say("SELECT 99999999999999999999"), "22003");
  EXPECT_EQ(say("SELECT 'a' + 1"), "42883");
  EXPECT_EQ(say("SELECT 'a' = 1"), "42883");
  EXPECT_EQ(say("SELECT NOT 1"), "42804");
}

TEST_F(EngineTest, RefusesWhatIsNoCommand) {
  for (const char* sql : {"", ";", "SELEC 1", "SELECT", "SELECT 1 FROM", "SELECT 1; SELECT 2",
                          "INSERT INTO t", "SELECT 'a", "SELECT (1", "SELECT $", "SELECT #",
                          "CREATE TABLE t ()", "UPDATE t SET", "ROLLBACK TO", "SET a = ", "a b"}) {
    EXPECT_EQ(say(sql), "42601") << sql;
  }
  EXPECT_EQ(say("SELECT " + std::string(1000, '(') + "1" + std::string(1000, ')')), "54001");
  std::string sum = "SELECT 1";
  for (int i = 0; i < 1000; ++i) sum += "+1";
  EXPECT_EQ(say(sum), "54001");
  EXPECT_EQ(say("SELECT $0"), "42P02");
  EXPECT_EQ(say("SELECT $1"), "07001");
  EXPECT_EQ(say("SELECT nothing(1)"), "42883");
  EXPECT_EQ(say("SELECT count(*)"), "42803");
}

TEST_F(EngineTest, ReadsRows) {
  make_accounts();
  EXPECT_EQ(say("SELECT * FROM account"), "1,ann,100 2,bob,50 3,cid,NULL");
  EXPECT_EQ(session_.execute("SELECT cents * 2 AS twice, owner FROM account").columns,
            (std::vector<std::string>{"twice", "owner"}));
  EXPECT_EQ(say("SELECT owner FROM account WHERE cents > 10 AND id = $1", {std::int64_t{2}}),
            "bob");
  EXPECT_EQ(say("SELECT id FROM account ORDER BY cents"), "2 1 3");
  EXPECT_EQ(say("SELECT id FROM account ORDER BY cents DESC LIMIT 2"), "3 1");
  EXPECT_EQ(say("SELECT id FROM account LIMIT $1", {std::int64_t{1}}), "1");
  EXPECT_EQ(say("SELECT count(*), sum(cents), sum(id + 1) FROM account"), "3,150,9");
  EXPECT_EQ(say("SELECT count(*), sum(cents) FROM account WHERE FALSE"), "0,NULL");
  EXPECT_EQ(say("SELECT id FROM account LIMIT -1"), "2201W");
  EXPECT_EQ(say("SELECT nobody FROM account"), "42703");
  EXPECT_EQ(say("SELECT id, count(*) FROM account"), "42703");
  EXPECT_EQ(say("SELECT id FROM account WHERE nobody = 1"), "42703");
  EXPECT_EQ(say("SELECT id FROM nowhere"), "42P01");
}

TEST_F(EngineTest, ChangesRows) {
  make_accounts();
  EXPECT_EQ(say("UPDATE account SET cents = cents - 10, owner = 'anna' WHERE id = 1"), "1 rows");
  EXPECT_EQ(say("SELECT owner, cents FROM account WHERE id = 1"), "anna,90");
  EXPECT_EQ(say("DELETE FROM account WHERE cents IS NULL"), "1 rows");
  EXPECT_EQ(say("INSERT INTO account (cents, id) VALUES (7, 4)"), "1 rows");
  EXPECT_EQ(say("SELECT * FROM account WHERE id > 2"), "4,NULL,7");
  EXPECT_EQ(say("UPDATE account SET nobody = 1"), "42703");
  EXPECT_EQ(say("INSERT INTO account (id, id) VALUES (1, 2)"), "42701");
  EXPECT_EQ(say("INSERT INTO account (id) VALUES (1, 2)"), "42601");
  EXPECT_EQ(say("DELETE FROM account"), "3 rows");
}

TEST_F(EngineTest, KeepsKeysApart) {
  make_accounts();
  EXPECT_EQ(say("INSERT INTO account VALUES (4, 'dan', 1), (2, 'eve', 1)"), "23505");
  EXPECT_EQ(say("SELECT count(*) FROM account"), "3") << "a command has all of its effect or none";
  EXPECT_EQ(say("INSERT INTO account VALUES ('1', 'dan', 1), (2.0, 'eve', 1)"), "23505");
  EXPECT_EQ(say("INSERT INTO account (owner) VALUES ('dan')"), "23502");
  EXPECT_EQ(say("UPDATE account SET id = 1 WHERE id = 2"), "23505");
  EXPECT_EQ(say("UPDATE account SET id = id WHERE id = 2"), "1 rows");
}

TEST_F(EngineTest, MakesAndDropsTables) {
  EXPECT_EQ(say("CREATE TABLE t (a, b VARCHAR(20) NOT NULL, \"C d\" NUMERIC(10, 2))"), "0 rows");
  EXPECT_EQ(say("CREATE TABLE t (a)"), "42P07");
  EXPECT_EQ(say("CREATE TABLE IF NOT EXISTS t (a)"), "0 rows");
  EXPECT_EQ(say("CREATE TABLE u (a, a)"), "42701");
  EXPECT_EQ(say("CREATE TABLE u (a PRIMARY KEY, b PRIMARY KEY)"), "42P16");
  EXPECT_EQ(say("INSERT INTO t VALUES (1, 'b', 2)"), "1 rows");
  EXPECT_EQ(say("SELECT \"C d\" FROM t"), "2");
  EXPECT_EQ(say("DROP TABLE t"), "0 rows");
  EXPECT_EQ(say("DROP TABLE t"), "42P01");
  EXPECT_EQ(say("DROP TABLE IF EXISTS t"), "0 rows");
}

TEST_F(EngineTest, CommitsAndRollsBack) {
  make_accounts();
  EXPECT_EQ(say("BEGIN"), "0 rows");
  EXPECT_EQ(session_.transaction(), TransactionState::Open);
  EXPECT_EQ(say("UPDATE account SET cents = 0 WHERE id = 1"), "1 rows");
  EXPECT_EQ(say("INSERT INTO account VALUES (9, 'zoe', 1)"), "1 rows");
  EXPECT_EQ(say("DELETE FROM account WHERE id = 2"), "1 rows");
  EXPECT_EQ(say("CREATE TABLE t (a)"), "0 rows");
  EXPECT_EQ(say("SELECT * FROM account"), "1,ann,0 3,cid,NULL 9,zoe,1");
  EXPECT_EQ(other("SELECT * FROM account"), "1,ann,100 2,bob,50 3,cid,NULL");
  EXPECT_EQ(other("SELECT * FROM t"), "42P01");
  EXPECT_EQ(say("ROLLBACK"), "0 rows");
  EXPECT_EQ(session_.transaction(), TransactionState::None);
  EXPECT_EQ(say("SELECT * FROM account"), "1,ann,100 2,bob,50 3,cid,NULL");
  EXPECT_EQ(say("SELECT * FROM t"), "42P01");

  EXPECT_EQ(say("START TRANSACTION ISOLATION LEVEL READ COMMITTED"), "0 rows");
  EXPECT_EQ(say("ROLLBACK WORK"), "0 rows");
  EXPECT_EQ(say("BEGIN TRANSACTION"), "0 rows");
  EXPECT_EQ(say("DELETE FROM account WHERE id = 2"), "1 rows");
  EXPECT_EQ(say("COMMIT"), "0 rows");
  EXPECT_EQ(other("SELECT count(*) FROM account"), "2");
  EXPECT_EQ(say("COMMIT"), "25P01");
  EXPECT_EQ(say("ROLLBACK"), "25P01");
  EXPECT_EQ(say("SAVEPOINT s"), "25P01");
}

TEST_F(EngineTest, AFailedTransactionTakesNothingButItsEnd) {
  make_accounts();
  EXPECT_EQ(say("BEGIN"), "0 rows");
  EXPECT_EQ(say("UPDATE account SET cents = 0"), "3 rows");
  EXPECT_EQ(say("SELECT * FROM nowhere"), "42P01");
  EXPECT_EQ(session_.transaction(), TransactionState::Failed);
  EXPECT_EQ(say("SELECT 1"), "25P02");
  EXPECT_EQ(say("BEGIN"), "25P02");
  EXPECT_EQ(say("COMMIT"), "0 rows");
  EXPECT_EQ(session_.transaction(), TransactionState::None);
  EXPECT_EQ(say("SELECT sum(cents) FROM account"), "150");
  EXPECT_EQ(say("BEGIN"), "0 rows");
  EXPECT_EQ(say("BEGIN"), "25001");
  EXPECT_EQ(say("ROLLBACK"), "0 rows");
}

TEST_F(EngineTest, ReturnsToSavepoints) {
  make_accounts();
  say("BEGIN");
  say("UPDATE account SET cents = 1 WHERE id = 1");
  EXPECT_EQ(say("SAVEPOINT a"), "0 rows");
  say("UPDATE account SET cents = 2 WHERE id = 1");
  say("INSERT INTO account VALUES (4, 'dan', 4)");
  EXPECT_EQ(say("SAVEPOINT b"), "0 rows");
  say("UPDATE account SET cents = 3 WHERE id = 1");
  say("DELETE FROM account WHERE id = 4");
  EXPECT_EQ(say("ROLLBACK TO SAVEPOINT b"), "0 rows");
  EXPECT_EQ(say("SELECT cents FROM account WHERE id = 1 OR id = 4"), "2 4");
  EXPECT_EQ(say("broken"), "42601");
  EXPECT_EQ(say("ROLLBACK TO a"), "0 rows");
  EXPECT_EQ(session_.transaction(), TransactionState::Open);
  EXPECT_EQ(say("SELECT cents FROM account WHERE id = 1 OR id = 4"), "1");
  EXPECT_EQ(say("RELEASE SAVEPOINT a"), "0 rows");
  EXPECT_EQ(say("COMMIT"), "0 rows");
  EXPECT_EQ(other("SELECT cents FROM account WHERE id = 1"), "1");
  say("BEGIN");
  EXPECT_EQ(say("ROLLBACK TO a"), "3B001");
  EXPECT_EQ(say("ROLLBACK"), "0 rows");
}

TEST_F(EngineTest, WhoMeetsWhatAnotherTransactionHasWrittenFailsAtOnce) {
  make_accounts();
  other("BEGIN");
  EXPECT_EQ(other("UPDATE account SET cents = 0 WHERE id = 1"), "1 rows");
  EXPECT_EQ(say("UPDATE account SET cents = 9 WHERE id = 2"), "1 rows");
  EXPECT_EQ(say("UPDATE account SET cents = 9 WHERE id = 1"), "40001");
  EXPECT_EQ(say("DELETE FROM account"), "40001");
  EXPECT_EQ(say("DROP TABLE account"), "40001");
  EXPECT_EQ(say("SELECT cents FROM account WHERE id = 1"), "100");
  say("BEGIN");
  EXPECT_EQ(say("SELECT cents FROM account WHERE id = 2"), "9");
  EXPECT_EQ(say("SELECT cents FROM account WHERE cents = 0"), "40001");
  EXPECT_EQ(say("SELECT 1"), "25P02");
  say("ROLLBACK");
  EXPECT_EQ(other("INSERT INTO account VALUES (4, 'dan', 1)"), "1 rows");
  EXPECT_EQ(say("INSERT INTO account VALUES (4, 'eve', 1)"), "40001");
  EXPECT_EQ(other("CREATE TABLE t (a)"), "0 rows");
  EXPECT_EQ(say("CREATE TABLE t (a)"), "40001");
  EXPECT_EQ(other("DROP TABLE account"), "0 rows");
  EXPECT_EQ(say("INSERT INTO account VALUES (5, 'eve', 1)"), "40001");
  EXPECT_EQ(say("SELECT count(*) FROM account"), "3");
  EXPECT_EQ(other("ROLLBACK"), "0 rows");
  EXPECT_EQ(say("INSERT INTO account VALUES (4, 'eve', 1)"), "1 rows");
}

TEST_F(EngineTest, NoUpdateIsLost) {
  make_accounts();
  say("BEGIN");
  other("BEGIN");
  EXPECT_EQ(say("SELECT cents FROM account WHERE id = 1"), "100");
  EXPECT_EQ(other("SELECT cents FROM account WHERE id = 1"), "100");
  EXPECT_EQ(say("UPDATE account SET cents = 110 WHERE id = 1"), "1 rows");
  EXPECT_EQ(say("COMMIT"), "0 rows");
  EXPECT_EQ(other("UPDATE account SET cents = 120 WHERE id = 1"), "40001");
  EXPECT_EQ(other("ROLLBACK"), "0 rows");
  EXPECT_EQ(say("SELECT cents FROM account WHERE id = 1"), "110");
}

TEST_F(EngineTest, NoTwoTransactionsDecideOnWhatTheOtherChanges) {
  make_accounts();
  say("BEGIN");
  other("BEGIN");
  say("SELECT count(*) FROM account WHERE owner = 'new'");
  other("SELECT count(*) FROM account WHERE owner = 'new'");
  EXPECT_EQ(say("INSERT INTO account VALUES (10, 'new', 1)"), "1 rows");
  EXPECT_EQ(other("INSERT INTO account VALUES (11, 'new', 1)"), "1 rows");
  EXPECT_EQ(say("COMMIT"), "0 rows");
  EXPECT_EQ(other("COMMIT"), "40001");
  EXPECT_EQ(other_.transaction(), TransactionState::None);
  EXPECT_EQ(say("SELECT count(*) FROM account WHERE owner = 'new'"), "1");
}

TEST_F(EngineTest, WhoHasOnlyReadMayCommitWhatIsOld) {
  make_accounts();
  other("BEGIN");
  EXPECT_EQ(other("SELECT sum(cents) FROM account"), "150");
  EXPECT_EQ(say("UPDATE account SET cents = 0"), "3 rows");
  EXPECT_EQ(other("COMMIT"), "0 rows");
  other("BEGIN");
  other("SELECT sum(cents) FROM account");
  say("DROP TABLE account");
  EXPECT_EQ(other("SELECT 1"), "40001");
}

TEST_F(EngineTest, SessionsHaveVariablesAndTemporaryTablesOfTheirOwn) {
  EXPECT_EQ(say("SET zone = 'Asia'"), "0 rows");
  EXPECT_EQ(say("SHOW zone"), "Asia");
  EXPECT_EQ(other("SHOW zone"), "42704");
  say("BEGIN");
  say("SET zone TO 5");
  EXPECT_EQ(say("SHOW zone"), "5");
  say("ROLLBACK");
  EXPECT_EQ(say("SHOW zone"), "Asia");

  say("CREATE TABLE t (a)");
  EXPECT_EQ(say("CREATE TEMPORARY TABLE t (a, b)"), "0 rows");
  EXPECT_EQ(say("INSERT INTO t VALUES (1, 2)"), "1 rows");
  EXPECT_EQ(other("SELECT * FROM t"), "");
  EXPECT_EQ(say("SELECT b FROM t"), "2");
  session_.reset();
  EXPECT_EQ(say("SELECT b FROM t"), "42703");
  EXPECT_EQ(say("SHOW zone"), "42704");
  say("BEGIN");
  EXPECT_THROW(session_.reset(), SqlError);
  EXPECT_EQ(say("SELECT 1"), "25P02");
}

TEST_F(EngineTest, TheLastErrorIsTheSessions) {
  EXPECT_EQ(say("SHOW last_error"), "00000");
  say("SELECT * FROM nowhere");
  EXPECT_EQ(other("SHOW last_error"), "00000");
  EXPECT_EQ(say("SHOW last_error"), "42P01");
  say("SELECT 1");
  EXPECT_EQ(say("SHOW last_error"), "00000");
}

TEST_F(EngineTest, APlanIsForOneTable) {
  make_accounts();
  const Plan plan = session_.plan("SELECT owner FROM account WHERE id = $1");
  const std::vector<db::Value> two{std::int64_t{2}};
  EXPECT_EQ(session_.execute(plan, two).rows.size(), 1u);
  const auto sqlstate = [&] {
    try {
      (void)session_.execute(plan, two);
      return std::string("00000");
    } catch (const SqlError& error) {
      return error.sqlstate();
    }
  };
  say("DROP TABLE account");
  EXPECT_EQ(sqlstate(), "42P01");
  make_accounts();
  EXPECT_EQ(sqlstate(), "0A000");
}

TEST_F(EngineTest, KnowsHowLongACommandTakes) {
  EXPECT_EQ(session_.duration(session_.plan("SELECT 1, sleep(0.25)"), {}), 250ms);
  const std::vector<db::Value> two{std::int64_t{2}};
  EXPECT_EQ(session_.duration(session_.plan("SELECT sleep($1)"), two), 2s);
  EXPECT_EQ(session_.duration(session_.plan("SELECT sleep('x')"), {}), 0s);
}

TEST_F(EngineTest, TheEndOfASessionRollsBack) {
  make_accounts();
  {
    Session third(database_);
    answer(third, "BEGIN");
    answer(third, "DELETE FROM account");
    EXPECT_EQ(database_.transaction_count(), 1u);
  }
  EXPECT_EQ(say("DELETE FROM account"), "3 rows");
  EXPECT_EQ(database_.session_count(), 2u);
}

TEST_F(EngineTest, WhatIsCommittedSurvivesTheSessions) {
  make_accounts();
  say("BEGIN");
  say("DELETE FROM account");
  database_.end_sessions();
  EXPECT_EQ(say("SELECT 1"), "57P01");
  EXPECT_EQ(other("COMMIT"), "57P01");
  Session next(database_);
  EXPECT_GT(next.id(), other_.id());
  EXPECT_EQ(answer(next, "SELECT count(*) FROM account"), "3");
}

TEST_F(EngineTest, LetsInWhomItKnows) {
  EXPECT_TRUE(database_.lets_in("anybody", ""));
  database_.add_user("ann", "secret");
  EXPECT_TRUE(database_.lets_in("ann", "secret"));
  EXPECT_FALSE(database_.lets_in("ann", "guess"));
  EXPECT_FALSE(database_.lets_in("bob", ""));
}

}  // namespace
}  // namespace fermata::sim::sql
