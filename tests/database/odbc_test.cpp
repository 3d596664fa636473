// SPDX-License-Identifier: Apache-2.0
// What is ODBC's alone; the rest is in driver_contract_test.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fermata/core/spawn.hpp"
#include "fermata/db/drivers/factory.hpp"
#include "fermata/db/errors.hpp"
#include "fermata/db/target.hpp"
#include "fermata/sync/await.hpp"
#include "tests/database/arms.hpp"
#include "tests/database/driver_fixture.hpp"

namespace fermata::database_test {
namespace {

constexpr std::string_view kOdbcSecret = "open-sesame;}{ now";

bool has_arm(std::string_view name) {
  const std::vector<std::string> names = arm_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

db::Target odbc_target(std::vector<std::pair<std::string, std::string>> options,
                       std::string source = {}) {
  db::Target target;
  target.scheme = "odbc";
  target.database = std::move(source);
  target.user = "ann";
  target.password = kOdbcSecret;
  target.options = std::move(options);
  return target;
}

void make_new(db::Connection& connection, std::string_view table, std::string_view columns) {
  connection.run(fmt::format("DROP TABLE IF EXISTS {}", table));
  connection.run(fmt::format("CREATE TABLE {} ({})", table, columns));
}

class Odbc : public DriverTest {
 protected:
  void SetUp() override {
    if (!has_arm("odbc_sqlite")) GTEST_SKIP() << "this build has no ODBC";
    driver = db::make_driver("odbc");
  }

  /// What connecting says.
  std::string connect_error(const db::Target& target) {
    std::string message;
    in_runtime([&] {
      driver->check(target);
      try {
        static_cast<void>(driver->connect(target));
        ADD_FAILURE() << "it is connected";
      } catch (const db::ConnectError& error) {
        message = error.what();
        EXPECT_EQ(error.sqlstate().size(), 5u);
        EXPECT_EQ(error.database(), target.text());
      }
    });
    EXPECT_EQ(message.find(kOdbcSecret), std::string::npos) << message;
    return message;
  }

  std::string check_error(const db::Target& target) {
    try {
      driver->check(target);
    } catch (const UsageError& error) {
      return error.what();
    }
    return {};
  }

  std::unique_ptr<db::Driver> driver;
};

class OdbcSqlite : public Odbc {
 protected:
  void SetUp() override {
    Odbc::SetUp();
    if (!IsSkipped()) target = db::parse_url(arm_named("odbc_sqlite").url);
  }

  /// Runs `body` with a connection.
  template <class Body>
  void connected(const Body& body) {
    in_runtime([&] {
      const std::unique_ptr<db::Connection> connection = driver->connect(target);
      body(*connection);
    });
  }

  db::Target target;
};

bool odbc_says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_F(Odbc, AnUnknownSourceIsAConnectError) {
  const std::string error = connect_error(odbc_target({}, "no_such_source"));
  EXPECT_TRUE(odbc_says(error, "IM002")) << error;
  EXPECT_TRUE(odbc_says(error, "odbc://ann@/no_such_source")) << error;
}

TEST_F(Odbc, ALibraryThatIsNotThereIsAConnectError) {
  const std::string error = connect_error(odbc_target({{"Driver", "/no/such/library.so"}}));
  EXPECT_TRUE(odbc_says(error, "/no/such/library.so")) << error;
}

TEST_F(Odbc, AFileThatIsNoLibraryIsAConnectError) {
  EXPECT_FALSE(connect_error(odbc_target({{"Driver", "/etc/passwd"}})).empty());
}

TEST_F(Odbc, APasswordIsNotShownWhateverHoldsIt) {
  // unixODBC repeats the name of the library.
  const std::string path = fmt::format("/no/such/{}", kOdbcSecret);
  const std::string error = connect_error(odbc_target({{"Driver", path}}));
  EXPECT_TRUE(odbc_says(error, "not shown")) << error;

  db::Target as_option = odbc_target({{"Driver", path}, {"pwd", std::string(kOdbcSecret)}});
  as_option.password.clear();
  connect_error(as_option);
}

TEST_F(Odbc, WhatCanNeverBeSaidIsRefusedWithoutTrying) {
  EXPECT_TRUE(odbc_says(check_error(odbc_target({{"Server", std::string("a\0b", 3)}})), "NUL"));
  EXPECT_TRUE(odbc_says(check_error(odbc_target({{"Server;PWD", "x"}})), "names of options"));
  EXPECT_TRUE(odbc_says(check_error(odbc_target({{"", "x"}})), "names of options"));
  EXPECT_TRUE(odbc_says(check_error(odbc_target({{"Driver", std::string(5000, 'x')}})), "at most"));
  EXPECT_TRUE(odbc_says(check_error(db::parse_url("odbc:///")), "data source name"));
  EXPECT_TRUE(odbc_says(check_error(db::parse_url("odbc://host/source")), "no host"));
  EXPECT_EQ(check_error(odbc_target({}, "source")), "");
  const std::string secret = check_error(odbc_target({{"Server", std::string(5000, 'x')}}));
  EXPECT_FALSE(odbc_says(secret, kOdbcSecret)) << secret;
}

TEST_F(Odbc, AWrongFileIsAConnectError) {
  connect_error(odbc_target({{"Driver", "SQLite3"}, {"Database", "/no/such/folder/x.db"}}));
}

TEST_F(Odbc, ValuesWithSignsOfTheirOwnReachTheDriver) {
  if (!has_arm("odbc_postgresql")) GTEST_SKIP() << "no PostgreSQL";
  for (const std::string name : {"a;b", "a b", "a=b", "a}b", "{ab}", "a;}{b}}"}) {
    in_runtime([&] {
      db::Target target = db::parse_url(arm_named("odbc_postgresql").url);
      target.options.emplace_back("Pqopt", fmt::format("application_name='{}'", name));
      const std::unique_ptr<db::Connection> connection = driver->connect(target);
      const Result result = ask(*connection, "SELECT current_setting('application_name')");
      EXPECT_EQ(result.value(), db::Value(name));
    });
  }
}

TEST_F(Odbc, AConnectionThatTheServerEndsIsLost) {
  if (!has_arm("odbc_postgresql")) GTEST_SKIP() << "no PostgreSQL";
  const db::Target target = db::parse_url(arm_named("odbc_postgresql").url);
  in_runtime([&] {
    const std::unique_ptr<db::Connection> other = driver->connect(target);
    for (const bool in_transaction : {false, true}) {
      const std::unique_ptr<db::Connection> connection = driver->connect(target);
      const std::int64_t process = ask_integer(*connection, "SELECT pg_backend_pid()");
      const auto sleeper = spawn("sleeper", [&] {
        if (in_transaction) connection->begin();
        EXPECT_THROW(connection->run("SELECT pg_sleep(600)"), db::ConnectionLost);
      });
      const std::string sleeps =
          "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND "
          "wait_event = 'PgSleep'";
      while (ask_integer(*other, sleeps, {process}) == 0) suspend();
      ask(*other, "SELECT pg_terminate_backend($1::integer)", {process});
      await(sleeper);
      EXPECT_TRUE(connection->is_broken());
      EXPECT_FALSE(connection->looks_alive());
      EXPECT_EQ(connection->transaction(), db::TransactionState::Unknown);
      EXPECT_THROW(connection->run("SELECT 1"), db::ConnectionLost);
      EXPECT_THROW(connection->ping(), db::ConnectionLost);
      connection->interrupt();
    }
  });
}

TEST_F(Odbc, ATransactionWithAStoppedCommandCanOnlyBeRolledBack) {
  for (const std::string name : {"odbc_sqlite", "odbc_postgresql"}) {
    if (!has_arm(name)) continue;
    SCOPED_TRACE(name);
    const Arm& arm = arm_named(name);
    in_runtime([&] {
      const std::unique_ptr<db::Connection> connection = driver->connect(db::parse_url(arm.url));
      connection->run("DROP TABLE IF EXISTS stopped");
      connection->run("CREATE TABLE stopped (n INTEGER)");
      for (const std::string end : {"rollback()", "commit()", "ROLLBACK", "COMMIT"}) {
        const bool as_sql = end == "ROLLBACK" || end == "COMMIT";
        if (as_sql) {
          connection->run("BEGIN");
        } else {
          connection->begin();
        }
        connection->run("INSERT INTO stopped VALUES (1)");
        const auto slow = spawn("slow", [&] { connection->run(arm.endless); });
        delay(std::chrono::milliseconds(30));
        slow->cancel();
        EXPECT_THROW(await(slow), Cancellation);
        connection->interrupt();
        EXPECT_EQ(connection->transaction(), db::TransactionState::Failed);
        EXPECT_THROW(connection->run("INSERT INTO stopped VALUES (2)"), db::QueryError);
        if (end == "commit()") {
          EXPECT_THROW(connection->commit(), db::QueryError);
        } else if (end == "COMMIT") {
          EXPECT_THROW(connection->run(end), db::QueryError);
        } else if (as_sql) {
          connection->run(end);
        } else {
          connection->rollback();
        }
        EXPECT_EQ(connection->transaction(), db::TransactionState::None);
        EXPECT_EQ(ask_integer(*connection, "SELECT count(*) FROM stopped"), 0);
      }
    });
  }
}

TEST_F(Odbc, TruthValuesOfPostgresqlAreSuch) {
  if (!has_arm("odbc_postgresql")) GTEST_SKIP() << "no PostgreSQL";
  in_runtime([&] {
    const auto connection = driver->connect(db::parse_url(arm_named("odbc_postgresql").url));
    const Result result =
        ask(*connection, "SELECT true, false, NULL::boolean, $1::boolean, 1.50", {true});
    ASSERT_EQ(result.rows.size(), 1u);
    EXPECT_EQ(result.rows[0],
              (std::vector<db::Value>{true, false, db::Null{}, true, std::string("1.50")}));
  });
}

TEST_F(OdbcSqlite, AnOddFileNameReachesTheDriver) {
  const std::string* const file = target.option("Database");
  ASSERT_NE(file, nullptr);
  const std::string odd = *file + "=odd name";
  target.options.back().second = odd;
  connected([&](db::Connection& connection) {
    make_new(connection, "odd", "n INTEGER");
    EXPECT_TRUE(std::filesystem::exists(odd));
  });
}

TEST_F(OdbcSqlite, ACellOfAnotherKindThanItsColumnIsWhatItLooksLike) {
  connected([](db::Connection& connection) {
    const Result result = ask(connection,
                              "SELECT 1 AS i, 1.5 AS d UNION ALL SELECT 'word', 'long words' "
                              "UNION ALL SELECT 2.5, NULL UNION ALL SELECT NULL, 'x'");
    ASSERT_EQ(result.rows.size(), 4u);
    EXPECT_EQ(result.rows[0], (std::vector<db::Value>{std::int64_t{1}, 1.5}));
    EXPECT_EQ(result.rows[1],
              (std::vector<db::Value>{std::string("word"), std::string("long words")}));
    EXPECT_EQ(result.rows[2], (std::vector<db::Value>{2.5, db::Null{}}));
    EXPECT_EQ(result.rows[3], (std::vector<db::Value>{db::Null{}, std::string("x")}));
  });
}

TEST_F(OdbcSqlite, LongTextAndBytesComeInPieces) {
  connected([](db::Connection& connection) {
    for (const std::size_t size : {0u, 1u, 1023u, 1024u, 1025u, 8001u, 1'000'000u}) {
      std::string text;
      while (text.size() < size) text += static_cast<char>('a' + text.size() % 26);
      db::Bytes bytes(size);
      for (std::size_t at = 0; at < size; ++at) bytes[at] = static_cast<std::byte>(at * 7);
      const Result result = ask(connection, "SELECT $1 AS t, $2 AS b", {text, bytes});
      ASSERT_EQ(result.rows.size(), 1u);
      EXPECT_EQ(result.rows[0][0], db::Value(text)) << size;
      EXPECT_EQ(result.rows[0][1], db::Value(bytes)) << size;
    }
  });
}

TEST_F(OdbcSqlite, ACommandWithNulIsNotSentInPart) {
  connected([](db::Connection& connection) {
    const std::string sql("SELECT 1\0, 2", 12);
    EXPECT_THROW(ask(connection, sql), db::ParameterError);
    EXPECT_THROW(static_cast<void>(connection.prepare(sql)), db::ParameterError);
    EXPECT_EQ(ask_integer(connection, "SELECT 3"), 3);
  });
}

TEST_F(OdbcSqlite, TransactionsBegunAsSqlAreSeen) {
  connected([](db::Connection& connection) {
    using enum db::TransactionState;
    make_new(connection, "seen", "n INTEGER");
    for (const std::string begin :
         {"BEGIN", "begin immediate transaction", "/* now */ BEGIN -- it", " BEGIN EXCLUSIVE"}) {
      connection.run(begin);
      EXPECT_EQ(connection.transaction(), Open) << begin;
      connection.run("INSERT INTO seen VALUES (1)");
      connection.run("SAVEPOINT s");
      connection.run("ROLLBACK TO s");
      EXPECT_EQ(connection.transaction(), Open) << begin;
      connection.rollback();
      EXPECT_EQ(connection.transaction(), None) << begin;
    }
    connection.run("BEGIN");
    connection.run("COMMIT");
    EXPECT_EQ(connection.transaction(), None);
    EXPECT_EQ(ask_integer(connection, "SELECT count(*) FROM seen"), 0);
    ask(connection, "SELECT 'BEGIN'");
    EXPECT_EQ(connection.transaction(), None);
  });
}

TEST_F(OdbcSqlite, ATransactionCanBeEndedBySql) {
  connected([](db::Connection& connection) {
    using enum db::TransactionState;
    make_new(connection, "ended", "n INTEGER");
    connection.begin();
    connection.run("INSERT INTO ended VALUES (1)");
    connection.run("COMMIT");
    EXPECT_EQ(connection.transaction(), None);
    connection.begin();
    connection.run("INSERT INTO ended VALUES (2)");
    connection.run("ROLLBACK TRANSACTION;");
    EXPECT_EQ(connection.transaction(), None);
    connection.run("INSERT INTO ended VALUES (3)");
    EXPECT_EQ(ask_integer(connection, "SELECT sum(n) FROM ended"), 4);
    EXPECT_THROW(connection.commit(), db::QueryError);
  });
}

TEST_F(OdbcSqlite, AConnectionThatGoesWithATransactionOpenRollsItBack) {
  connected([](db::Connection& connection) { make_new(connection, "gone", "n INTEGER"); });
  connected([](db::Connection& connection) {
    connection.begin();
    connection.run("INSERT INTO gone VALUES (1)");
  });
  connected([](db::Connection& connection) {
    connection.run("BEGIN");
    connection.run("INSERT INTO gone VALUES (1)");
  });
  connected([](db::Connection& connection) {
    EXPECT_EQ(ask_integer(connection, "SELECT count(*) FROM gone"), 0);
    connection.run("INSERT INTO gone VALUES (2)");
  });
}

TEST_F(OdbcSqlite, AnErrorOfAConstraintHasItsSqlstate) {
  connected([](db::Connection& connection) {
    make_new(connection, "one_of", "n INTEGER PRIMARY KEY");
    connection.run("INSERT INTO one_of VALUES (1)");
    try {
      connection.run("INSERT INTO one_of VALUES (1)");
      ADD_FAILURE() << "there are two";
    } catch (const db::QueryError& error) {
      EXPECT_EQ(error.sqlstate(), "23000");
    }
  });
}

TEST_F(OdbcSqlite, SignsInACommentMeanNothing) {
  connected([](db::Connection& connection) {
    EXPECT_EQ(ask_integer(connection, "SELECT 1 -- ; $1 ? '\n + 1"), 2);
    EXPECT_EQ(ask(connection, "SELECT '-- ? ;' -- it").value(), db::Value(std::string("-- ? ;")));
  });
}

TEST_F(OdbcSqlite, APreparedCommandGoesWithItsSession) {
  connected([](db::Connection& connection) {
    const std::unique_ptr<db::Prepared> prepared = connection.prepare("SELECT $1");
    EXPECT_EQ(integer(ask(*prepared, {std::int64_t{1}}).value()), 1);
    connection.reset_session();
    try {
      ask(*prepared, {std::int64_t{2}});
      ADD_FAILURE() << "it is still there";
    } catch (const db::QueryError& error) {
      EXPECT_TRUE(connection.is_stale_plan(error.sqlstate()));
    }
    EXPECT_EQ(ask_integer(connection, "SELECT 3"), 3);
  });
}

MAIN_TEST_F(OdbcSqlite, CommandsAreStoppedWhenNoWorkerIsFree) {
  std::vector<std::unique_ptr<db::Connection>> connections;
  for (int i = 0; i < 6; ++i) connections.push_back(driver->connect(target));
  std::vector<Coroutine<void>> running;
  for (const auto& connection : connections) {
    running.push_back(spawn([&connection] {
      try {
        ask(*connection, arm_named("odbc_sqlite").endless);
      } catch (...) {
        protect([&] { connection->interrupt(); });
        throw;
      }
    }));
  }
  delay(std::chrono::milliseconds(30));  // Four of them run now, or will soon.
  for (const auto& coroutine : running) coroutine.cancel();
  for (const auto& coroutine : running) EXPECT_THROW(await(coroutine), Cancellation);
  for (const auto& connection : connections) {
    EXPECT_FALSE(connection->is_broken());
    EXPECT_EQ(ask_integer(*connection, "SELECT 1"), 1);
  }
}

}  // namespace
}  // namespace fermata::database_test
