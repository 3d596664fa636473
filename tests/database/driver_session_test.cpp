// SPDX-License-Identifier: Apache-2.0

// Transactions and sessions of every driver.

#include "tests/database/driver_contract.hpp"

namespace fermata::database_test {
namespace {

// --- transactions ---

CONTRACT(TheTransactionStateIsTheServers, Connection& connection) {
  make_table(connection);
  EXPECT_EQ(connection.transaction(), TransactionState::None);
  connection.begin();
  EXPECT_EQ(connection.transaction(), TransactionState::Open);
  connection.run("INSERT INTO contract VALUES (1)");
  EXPECT_EQ(connection.transaction(), TransactionState::Open);
  connection.commit();
  EXPECT_EQ(connection.transaction(), TransactionState::None);
  connection.begin();
  connection.run("INSERT INTO contract VALUES (2)");
  connection.rollback();
  EXPECT_EQ(connection.transaction(), TransactionState::None);
  EXPECT_EQ(count(connection), 1);
}

CONTRACT(ATransactionOfRawCommandsIsOne, Connection& connection) {
  make_table(connection);
  connection.run("BEGIN");
  EXPECT_EQ(connection.transaction(), TransactionState::Open);
  connection.run("INSERT INTO contract VALUES (1)");
  connection.run("ROLLBACK");
  EXPECT_EQ(connection.transaction(), TransactionState::None);
  ask(connection, "  /* a comment */ begin ");
  EXPECT_EQ(connection.transaction(), TransactionState::Open);
  connection.run("INSERT INTO contract VALUES (2)");
  ask(connection, "-- done\ncommit");
  EXPECT_EQ(connection.transaction(), TransactionState::None);
  EXPECT_EQ(count(connection), 1);
}

CONTRACT(AnErrorInATransaction, Connection& connection) {
  make_table(connection);
  connection.begin();
  connection.run("INSERT INTO contract VALUES (1)");
  expect_query_error(connection, "SELECT * FROM no_such_table");
  EXPECT_FALSE(connection.is_broken());
  if (arm_.errors_fail_transactions) {
    EXPECT_EQ(connection.transaction(), TransactionState::Failed);
    expect_query_error(connection, "SELECT 1");
    EXPECT_EQ(connection.transaction(), TransactionState::Failed);
  } else {
    EXPECT_EQ(connection.transaction(), TransactionState::Open);
    expect_in_order(connection);
  }
  connection.rollback();
  EXPECT_EQ(connection.transaction(), TransactionState::None);
  EXPECT_EQ(count(connection), 0);
}

CONTRACT(SavepointsAreKeptAndTakenBack, Connection& connection) {
  make_table(connection);
  connection.begin();
  connection.run("INSERT INTO contract VALUES (1)");
  connection.run("SAVEPOINT here");
  connection.run("INSERT INTO contract VALUES (2)");
  connection.run("ROLLBACK TO SAVEPOINT here");
  EXPECT_EQ(connection.transaction(), TransactionState::Open);
  connection.run("RELEASE SAVEPOINT here");
  connection.commit();
  EXPECT_EQ(count(connection), 1);
}

CONTRACT(ASecondConnectionSeesWhatIsCommitted, Connection& one, Connection& other) {
  make_table(one);
  one.begin();
  one.run("INSERT INTO contract VALUES (1)");
  EXPECT_EQ(count(one), 1);
  EXPECT_EQ(count(other), 0);
  one.commit();
  EXPECT_EQ(count(other), 1);
  one.begin();
  one.run("DELETE FROM contract");
  EXPECT_EQ(count(other), 1);
  one.rollback();
  EXPECT_EQ(count(other), 1);
  EXPECT_EQ(count(one), 1);
  one.run("DELETE FROM contract");
  EXPECT_EQ(count(other), 0);
}

CONTRACT(ATableMadeInATransaction, Connection& one, Connection& other) {
  one.run("DROP TABLE IF EXISTS contract_two");
  make_table(one);
  one.begin();
  one.run("INSERT INTO contract VALUES (1)");
  one.run("CREATE TABLE contract_two (i BIGINT)");
  // Some databases end the transaction there, and only they know.
  const bool ended = one.transaction() == TransactionState::None;
  EXPECT_EQ(count(other), ended ? 1 : 0);
  if (!ended) one.rollback();
  one.run("DROP TABLE IF EXISTS contract_two");
  EXPECT_EQ(count(one), ended ? 1 : 0);
}

CONTRACT(AConnectionThatGoesCommitsNothing, std::unique_ptr<Connection> connection) {
  make_table(*connection);
  connection->begin();
  connection->run("INSERT INTO contract VALUES (1)");
  connection.reset();
  connection = subject_.connect();
  EXPECT_EQ(count(*connection), 0);
  connection->run("INSERT INTO contract VALUES (2)");
  EXPECT_EQ(count(*connection), 1);
}

// --- life of a session ---

CONTRACT(AConnectionAnswers, Connection& connection) {
  EXPECT_FALSE(connection.is_broken());
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(connection.looks_alive());
    connection.ping();
    expect_in_order(connection);
  }
  connection.begin();
  connection.ping();
  EXPECT_EQ(connection.transaction(), TransactionState::Open);
}

CONTRACT(ResetMakesTheSessionNew, Connection& connection) {
  make_table(connection);
  const Value before = ask(connection, arm_.show_attribute).value();
  connection.set_attribute(arm_.attribute, arm_.attribute_value);
  connection.run("CREATE TEMPORARY TABLE contract_temporary (i INTEGER)");
  connection.run("INSERT INTO contract_temporary VALUES (1)");
  EXPECT_NE(ask(connection, arm_.show_attribute).value(), before);
  const auto prepared = connection.prepare("SELECT 1");
  connection.reset_session();
  EXPECT_EQ(ask(connection, arm_.show_attribute).value(), before);
  expect_query_error(connection, "SELECT * FROM contract_temporary");
  connection.reset_session();
  expect_in_order(connection);
}

CONTRACT(ResetEndsATransaction, Connection& one, Connection& other) {
  make_table(one);
  one.begin();
  one.run("INSERT INTO contract VALUES (1)");
  one.reset_session();
  EXPECT_EQ(one.transaction(), TransactionState::None);
  EXPECT_EQ(count(one), 0);
  EXPECT_EQ(count(other), 0);
  other.run("INSERT INTO contract VALUES (2)");  // Nothing is locked.
  EXPECT_EQ(count(one), 1);
}

CONTRACT(PreparedCommandsMayOutliveAReset, Connection& connection) {
  auto prepared = connection.prepare("SELECT 1");
  ask(*prepared);
  connection.reset_session();
  const auto other = connection.prepare("SELECT 2");
  prepared.reset();
  EXPECT_EQ(integer(ask(*other).value()), 2);
  expect_in_order(connection);
}

CONTRACT(AnAttributeIsSet, Connection& connection) {
  connection.set_attribute(arm_.attribute, arm_.attribute_value);
  const Value shown = ask(connection, arm_.show_attribute).value();
  const auto* const text = std::get_if<std::string>(&shown);
  EXPECT_EQ(text != nullptr ? *text : fmt::format("{}", integer(shown)), arm_.attribute_value);
  expect_in_order(connection);
}

CONTRACT(AnAttributeIsNoWayIn, Connection& connection) {
  make_table(connection);
  for (const std::string_view name :
       {"", "x; DROP TABLE contract", "x = 1; DROP TABLE contract; --", "\"x", "a'b", "x y"}) {
    EXPECT_THROW(connection.set_attribute(name, "1"), Error) << name;
  }
  for (const std::string_view value :
       {"1; DROP TABLE contract", "1'; DROP TABLE contract; --", "\\'; DROP TABLE contract; --"}) {
    try {
      connection.set_attribute(arm_.attribute, value);
    } catch (const Error&) {
    }
  }
  connection.reset_session();
  EXPECT_EQ(count(connection), 0);
}

}  // namespace
}  // namespace fermata::database_test
