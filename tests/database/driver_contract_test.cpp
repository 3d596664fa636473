// SPDX-License-Identifier: Apache-2.0
// What runtime/db/driver.hpp promises, of every driver, on a database of its own.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "fermata/runtime/base/error.hpp"
#include "fermata/runtime/core/spawn.hpp"
#include "fermata/runtime/core/suspend.hpp"
#include "fermata/runtime/sync/await.hpp"
#include "tests/database/driver_fixture.hpp"

namespace fermata::database_test {
namespace {

using namespace std::chrono_literals;
using db::Bytes;
using db::Cell;
using db::Connection;
using db::Fetch;
using db::TransactionState;
using db::Value;

Bytes bytes_of(std::string_view text) {
  Bytes bytes;
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

class DriverContract : public ::testing::TestWithParam<std::string> {
 protected:
  /// Runs `body` in a coroutine with a connection of its own.
  void with_connection(const std::function<void(Connection&)>& body) {
    in_runtime([&] {
      const std::unique_ptr<Connection> connection = subject_.connect();
      body(*connection);
    });
  }

  void with_two(const std::function<void(Connection&, Connection&)>& body) {
    in_runtime([&] {
      const std::unique_ptr<Connection> one = subject_.connect();
      const std::unique_ptr<Connection> other = subject_.connect();
      body(*one, *other);
    });
  }

  /// The table `contract`, new and empty.
  void make_table(Connection& connection, std::string_view columns = "i BIGINT") {
    connection.run("DROP TABLE IF EXISTS contract");
    connection.run(fmt::format("CREATE TABLE contract ({})", columns));
  }

  /// A table with a column of each kind.
  void make_kinds(Connection& connection) {
    make_table(connection, fmt::format("i BIGINT, d DOUBLE PRECISION, t TEXT, b {}, truth BOOLEAN",
                                       arm_.bytes_type));
  }

  std::int64_t count(Connection& connection) {
    return ask_integer(connection, "SELECT count(*) FROM contract");
  }

  /// The connection answers what it is asked now, not what it was asked before.
  void expect_in_order(Connection& connection) {
    ASSERT_FALSE(connection.broken());
    for (const std::int64_t number : {4711, 4712, 4713}) {
      EXPECT_EQ(ask_integer(connection, fmt::format("SELECT {}", number)), number);
    }
  }

  /// Runs `sql`, which fails; what is said has an SQLSTATE and names the database.
  db::QueryError expect_query_error(Connection& connection, std::string_view sql,
                                    const std::vector<Value>& parameters = {}) {
    try {
      ask(connection, sql, parameters);
    } catch (const db::QueryError& error) {
      EXPECT_EQ(error.sqlstate().size(), 5u) << error.what();
      EXPECT_NE(error.sqlstate(), "00000");
      EXPECT_EQ(error.database(), subject_.target().text());
      return error;
    }
    ADD_FAILURE() << "no error: " << sql;
    return db::QueryError("", "00000", "");
  }

  /// Runs `body` in a coroutine, cancels that after `patience`, and waits for its end. Returns
  /// whether it was cancelled.
  bool cancelled_after(Duration patience, const std::function<void()>& body) {
    auto task = spawn("cancelled", body);
    if (patience == Duration::zero()) {
      suspend();
    } else {
      delay(patience);
    }
    task->cancel();
    try {
      await(task);
    } catch (const Cancellation&) {
      return true;
    }
    return false;
  }

  /// Whether `got` is what was sent, as far as the database can tell.
  bool same(const Value& got, const Value& sent) const {
    const auto* const number = std::get_if<double>(&sent);
    const auto* const other = std::get_if<double>(&got);
    if (arm_.exact_numbers || number == nullptr || other == nullptr) return got == sent;
    const bool fits = std::abs(*number) < 1e308;  // With 15 digits the largest one is too large.
    return !fits || std::abs(*number - *other) <= std::abs(*number) * 1e-15;
  }

  /// As the pool does: nothing may end it, and it ends soon.
  void interrupt(Connection& connection) {
    const Instant start = now();
    protect([&] { connection.interrupt(); });
    EXPECT_LT(now() - start, 10s);
    EXPECT_TRUE(!arm_.survives_interrupt || !connection.broken());
  }

  const Arm& arm_ = arm_named(GetParam());
  Subject subject_{arm_};
};

// --- answers ---

TEST_P(DriverContract, AnAnswerHasColumnsAndRows) {
  with_connection([&](Connection& connection) {
    for (const Fetch fetch : {Fetch::All, Fetch::ByRows}) {
      const Result result = ask(connection, "SELECT 1 AS one, 'x' AS letter", {}, fetch);
      EXPECT_EQ(result.columns, (std::vector<std::string>{"one", "letter"}));
      ASSERT_EQ(result.rows.size(), 1u);
      EXPECT_EQ(integer(result.rows[0][0]), 1);
      EXPECT_EQ(result.rows[0][1], Value(std::string("x")));
    }
  });
}

TEST_P(DriverContract, AnAnswerWithoutRowsHasColumns) {
  with_connection([&](Connection& connection) {
    make_kinds(connection);
    for (const Fetch fetch : {Fetch::All, Fetch::ByRows}) {
      const Result result = ask(connection, "SELECT i, t FROM contract", {}, fetch);
      EXPECT_EQ(result.columns, (std::vector<std::string>{"i", "t"}));
      EXPECT_TRUE(result.rows.empty());
    }
  });
}

TEST_P(DriverContract, ACommandOfOtherKindHasNoColumns) {
  with_connection([&](Connection& connection) {
    make_table(connection);
    for (const Fetch fetch : {Fetch::All, Fetch::ByRows}) {
      const Result result = ask(connection, "INSERT INTO contract VALUES (7)", {}, fetch);
      EXPECT_TRUE(result.columns.empty());
      EXPECT_TRUE(result.rows.empty());
      EXPECT_EQ(result.effect.affected_rows, 1u);
    }
    EXPECT_EQ(count(connection), 2);
  });
}

TEST_P(DriverContract, ARowFitsWhateverItIsReadInto) {
  with_connection([&](Connection& connection) {
    const auto answer = connection.execute("SELECT 1, 2, 3", {}, Fetch::All);
    std::vector<Cell> row(17, Cell(std::int64_t{9}));
    ASSERT_TRUE(answer->next(row));
    EXPECT_EQ(row.size(), 3u);
    EXPECT_FALSE(answer->next(row));
  });
}

TEST_P(DriverContract, ASemicolonAndCommentsAreNoSecondCommand) {
  with_connection([&](Connection& connection) {
    EXPECT_EQ(ask_integer(connection, "/* $1 */ SELECT 5; "), 5);
    EXPECT_EQ(ask_integer(connection, "SELECT 6 -- $1; '\n"), 6);
  });
}

TEST_P(DriverContract, TwoCommandsAreNone) {
  if (!arm_.refuses_two_commands) GTEST_SKIP() << "this database runs them";
  with_connection([&](Connection& connection) {
    make_table(connection);
    expect_query_error(connection, "INSERT INTO contract VALUES (1); DELETE FROM contract");
    EXPECT_EQ(count(connection), 0);
    expect_in_order(connection);
  });
}

TEST_P(DriverContract, ManyColumnsAndColumnsOfOneName) {
  with_connection([&](Connection& connection) {
    std::string sql = "SELECT 0 AS same";
    for (int number = 1; number < 200; ++number) sql += fmt::format(", {} AS same", number);
    const Result result = ask(connection, sql);
    ASSERT_EQ(result.columns.size(), 200u);
    ASSERT_EQ(result.rows.size(), 1u);
    for (std::size_t column = 0; column < 200; ++column) {
      EXPECT_EQ(result.columns[column], "same");
      EXPECT_EQ(integer(result.rows[0][column]), static_cast<std::int64_t>(column));
    }
  });
}

TEST_P(DriverContract, AHundredThousandRowsAsTheyAreRead) {
  with_connection([&](Connection& connection) {
    const auto answer = connection.execute(arm_.many_rows, {}, Fetch::ByRows);
    EXPECT_EQ(answer->columns(), std::vector<std::string>{"n"});
    std::int64_t expected = 0;
    std::vector<Cell> row;
    while (answer->next(row)) {
      ASSERT_EQ(row.size(), 1u);
      ASSERT_EQ(integer(db::own(row[0])), ++expected);
    }
    EXPECT_EQ(expected, 100'000);
    expect_in_order(connection);
  });
}

TEST_P(DriverContract, AHundredThousandRowsAtOnce) {
  with_connection([&](Connection& connection) {
    const auto answer = connection.execute(arm_.many_rows, {}, Fetch::All);
    std::int64_t rows = 0;
    std::vector<Cell> row;
    while (answer->next(row)) ++rows;
    EXPECT_EQ(rows, 100'000);
  });
}

// --- values ---

TEST_P(DriverContract, KindsComeBackAsTheyWent) {
  const std::vector<std::vector<Value>> rows = {
      {std::int64_t{1}, 0.5, std::string("plain"), bytes_of("bytes"), true},
      {db::Null(), db::Null(), db::Null(), db::Null(), db::Null()},
      {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<double>::max(), std::string(),
       Bytes(), false},
      {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<double>::min(),
       std::string(R"(it's "quoted" \ back\' $1 ? % ; -- /* `)"), bytes_of(R"('\0\x"\\)"), true},
      {std::int64_t{0}, -0.1, std::string("Größe 漢字 🐘\n\t\r"),
       bytes_of(std::string_view("\0a\0\xff\x80\0", 6)), false},
      {std::int64_t{-1}, 3.0, std::string(" spaces "), bytes_of(" "), true},
      {std::int64_t{9007199254740993}, 0.1 + 0.2, std::string("NULL"), bytes_of("\\x41"), false},
  };
  with_connection([&](Connection& connection) {
    make_kinds(connection);
    const std::string insert =
        "INSERT INTO contract (i, d, t, b, truth) VALUES ($1, $2, $3, $4, $5)";
    const std::string select = "SELECT i, d, t, b, truth FROM contract";
    const auto prepared_insert = connection.prepare(insert);
    const auto prepared_select = connection.prepare(select);
    for (const std::vector<Value>& row : rows) {
      SCOPED_TRACE(std::get_if<std::string>(&row[2]) != nullptr ? std::get<std::string>(row[2])
                                                                : "NULL");
      for (const bool prepared : {false, true}) {
        connection.run("DELETE FROM contract");
        const Result inserted =
            prepared ? ask(*prepared_insert, row) : ask(connection, insert, row);
        EXPECT_EQ(inserted.effect.affected_rows, 1u);
        for (const Result& result :
             {ask(connection, select), ask(connection, select, {}, Fetch::ByRows),
              ask(*prepared_select)}) {
          ASSERT_EQ(result.rows.size(), 1u);
          for (const std::size_t column : {0u, 1u, 2u, 3u}) {
            EXPECT_TRUE(same(result.rows[0][column], row[column])) << "column " << column;
          }
          const Value& truth = result.rows[0][4];  // An integer where there are no truth values.
          EXPECT_EQ(truth.index() == 0, row[4].index() == 0);
          if (truth.index() != 0 && row[4].index() != 0) {
            EXPECT_EQ(integer(truth), integer(row[4]));
          }
        }
      }
    }
  });
}

TEST_P(DriverContract, EveryByteComesBack) {
  Bytes bytes;
  for (int code = 0; code < 256; ++code) bytes.push_back(static_cast<std::byte>(code));
  with_connection([&](Connection& connection) {
    make_kinds(connection);
    ask(connection, "INSERT INTO contract (b) VALUES ($1)", {bytes});
    EXPECT_EQ(ask(connection, "SELECT b FROM contract").value(), Value(bytes));
  });
}

TEST_P(DriverContract, LongTextAndBytes) {
  std::string text(1 << 16, ' ');  // MariaDB's TEXT ends just before.
  for (std::size_t at = 0; at < text.size(); ++at) text[at] = static_cast<char>('a' + at % 26);
  text.pop_back();
  Bytes bytes(3 << 20);
  for (std::size_t at = 0; at < bytes.size(); ++at) bytes[at] = static_cast<std::byte>(at * 7);
  with_connection([&](Connection& connection) {
    make_kinds(connection);
    ask(connection, "INSERT INTO contract (t, b) VALUES ($1, $2)", {text, bytes});
    for (const Fetch fetch : {Fetch::All, Fetch::ByRows}) {
      const Result result = ask(connection, "SELECT t, b FROM contract", {}, fetch);
      ASSERT_EQ(result.rows.size(), 1u);
      EXPECT_TRUE(result.rows[0][0] == Value(text));
      EXPECT_TRUE(result.rows[0][1] == Value(bytes));
    }
  });
}

TEST_P(DriverContract, LongAndShortValuesInTurn) {
  with_connection([&](Connection& connection) {
    make_kinds(connection);
    std::vector<std::string> texts;
    for (const std::size_t length : {0u, 1u, 300u, 5'000u, 10u, 60'000u, 2u, 255u, 256u, 257u}) {
      texts.emplace_back(length, 'x');
      ask(connection, "INSERT INTO contract (i, t) VALUES ($1, $2)",
          {static_cast<std::int64_t>(texts.size()), texts.back()});
    }
    for (const Fetch fetch : {Fetch::All, Fetch::ByRows}) {
      const Result result = ask(connection, "SELECT t FROM contract ORDER BY i", {}, fetch);
      ASSERT_EQ(result.rows.size(), texts.size());
      for (std::size_t row = 0; row < texts.size(); ++row) {
        EXPECT_TRUE(result.rows[row][0] == Value(texts[row])) << row;
      }
    }
  });
}

TEST_P(DriverContract, ANulInTextComesBackOrIsRefused) {
  const std::string text("a\0b", 3);
  with_connection([&](Connection& connection) {
    make_kinds(connection);
    try {
      ask(connection, "INSERT INTO contract (t) VALUES ($1)", {text});
      EXPECT_EQ(ask(connection, "SELECT t FROM contract").value(), Value(text));
    } catch (const db::ParameterError& error) {
      EXPECT_EQ(error.sqlstate().size(), 5u);
      EXPECT_EQ(count(connection), 0);
    }
    expect_in_order(connection);
  });
}

TEST_P(DriverContract, ANulInACommandIsRefused) {
  with_connection([&](Connection& connection) {
    EXPECT_THROW(ask(connection, std::string_view("SELECT 1\0 + 1", 13)), db::DatabaseError);
    EXPECT_THROW(
        {
          const auto prepared = connection.prepare(std::string_view("SELECT 1\0 + 1", 13));
          ask(*prepared);
        },
        db::DatabaseError);
    expect_in_order(connection);
  });
}

TEST_P(DriverContract, ParametersInAnyOrderAndTwice) {
  with_connection([&](Connection& connection) {
    make_table(connection, "a BIGINT, b BIGINT, c BIGINT, t TEXT");
    ask(connection, "INSERT INTO contract (a, b, c, t) VALUES ($2, $1, $2, '$1 ''$2')",
        {std::int64_t{1}, std::int64_t{2}});
    const Result result = ask(connection, "SELECT a, b, c, t FROM contract");
    ASSERT_EQ(result.rows.size(), 1u);
    EXPECT_EQ(result.rows[0], (std::vector<Value>{std::int64_t{2}, std::int64_t{1}, std::int64_t{2},
                                                  std::string("$1 '$2")}));
  });
}

TEST_P(DriverContract, MoreThanNineParameters) {
  with_connection([&](Connection& connection) {
    make_table(connection);
    std::string sql = "INSERT INTO contract (i) VALUES ";
    std::vector<Value> parameters;
    for (std::int64_t number = 1; number <= 25; ++number) {
      sql += fmt::format("{}(${})", number == 1 ? "" : ", ", number);
      parameters.emplace_back(number * 100);
    }
    EXPECT_EQ(ask(connection, sql, parameters).effect.affected_rows, 25u);
    EXPECT_EQ(ask_integer(connection, "SELECT max(i) FROM contract"), 2500);
    EXPECT_EQ(ask_integer(connection, "SELECT min(i) FROM contract"), 100);
  });
}

TEST_P(DriverContract, OtherParametersThanTheCommandHas) {
  const Value one = std::int64_t{1};
  with_connection([&](Connection& connection) {
    make_table(connection, "i BIGINT, j BIGINT");
    const std::string insert = "INSERT INTO contract (i, j) VALUES ($1, $2)";
    for (const std::vector<Value>& parameters :
         {std::vector<Value>{}, std::vector<Value>{one}, std::vector<Value>{one, one, one}}) {
      EXPECT_THROW(ask(connection, insert, parameters), db::ParameterError);
      EXPECT_FALSE(connection.broken());
    }
    EXPECT_THROW(ask(connection, "SELECT 1", {one}), db::ParameterError);

    const auto prepared = connection.prepare(insert);
    EXPECT_EQ(prepared->parameter_count(), 2u);
    EXPECT_THROW(ask(*prepared, {one}), db::ParameterError);
    EXPECT_THROW(ask(*prepared, {one, one, one}), db::ParameterError);
    EXPECT_EQ(count(connection), 0);
    ask(*prepared, {one, one});
    EXPECT_EQ(count(connection), 1);
    expect_in_order(connection);
  });
}

// --- effects ---

TEST_P(DriverContract, AffectedRows) {
  with_connection([&](Connection& connection) {
    make_table(connection);
    EXPECT_EQ(connection.run("INSERT INTO contract VALUES (1), (2), (3)").affected_rows, 3u);
    EXPECT_EQ(connection.run("UPDATE contract SET i = i + 10 WHERE i < 3").affected_rows, 2u);
    EXPECT_EQ(connection.run("UPDATE contract SET i = 0 WHERE i = 99").affected_rows, 0u);
    EXPECT_EQ(connection.run("DELETE FROM contract WHERE i = 99").affected_rows, 0u);
    EXPECT_EQ(connection.run("DELETE FROM contract").affected_rows, 3u);
    EXPECT_EQ(connection.run("DROP TABLE contract").affected_rows, 0u);
    EXPECT_EQ(connection.run("SELECT 1").affected_rows, 0u);
  });
}

TEST_P(DriverContract, TheIdOfTheLastRowInserted) {
  with_connection([&](Connection& connection) {
    make_table(connection, fmt::format("id {}, i BIGINT", arm_.given_id));
    const std::optional<std::int64_t> first =
        connection.run("INSERT INTO contract (i) VALUES (1)").last_insert_id;
    EXPECT_EQ(first.has_value(), arm_.tells_last_insert_id);
    const std::optional<std::int64_t> second =
        connection.run("INSERT INTO contract (i) VALUES (2)").last_insert_id;
    if (first) {
      EXPECT_EQ(*first, ask_integer(connection, "SELECT id FROM contract WHERE i = 1"));
      EXPECT_EQ(second.value_or(-1), *first + 1);
    }
    EXPECT_EQ(connection.run("UPDATE contract SET i = 3 WHERE i = 1").last_insert_id, std::nullopt);
    EXPECT_EQ(connection.run("SELECT 1").last_insert_id, std::nullopt);
  });
}

// --- errors ---

TEST_P(DriverContract, ACommandThatFailsLeavesTheConnectionInOrder) {
  with_connection([&](Connection& connection) {
    make_table(connection, "i BIGINT PRIMARY KEY, j BIGINT NOT NULL");
    connection.run("INSERT INTO contract VALUES (1, 1)");
    for (int round = 0; round < 3; ++round) {
      expect_query_error(connection, "SELEC 1");
      expect_query_error(connection, "SELECT * FROM no_such_table");
      expect_query_error(connection, "SELECT no_such_column FROM contract");
      EXPECT_EQ(connection.transaction(), TransactionState::None);
      expect_in_order(connection);
    }
    EXPECT_EQ(count(connection), 1);
  });
}

TEST_P(DriverContract, ABrokenConstraintIsOfClass23) {
  with_connection([&](Connection& connection) {
    make_table(connection, "i BIGINT NOT NULL PRIMARY KEY");
    connection.run("INSERT INTO contract VALUES (1)");
    const std::string insert = "INSERT INTO contract VALUES ($1)";
    EXPECT_TRUE(
        expect_query_error(connection, insert, {std::int64_t{1}}).sqlstate().starts_with("23"));
    const auto prepared = connection.prepare(insert);
    for (int round = 0; round < 3; ++round) {
      EXPECT_THROW(ask(*prepared, {std::int64_t{1}}), db::QueryError);
      EXPECT_EQ(ask(*prepared, {std::int64_t{2 + round}}).effect.affected_rows, 1u);
    }
    EXPECT_EQ(count(connection), 4);
  });
}

TEST_P(DriverContract, AnErrorAmidTheRowsEndsTheAnswer) {
  with_connection([&](Connection& connection) {
    for (const Fetch fetch : {Fetch::All, Fetch::ByRows}) {
      EXPECT_THROW(ask(connection, arm_.failing_row, {}, fetch), db::QueryError);
      expect_in_order(connection);
    }
  });
}

TEST_P(DriverContract, NoConnectionToADatabaseThatIsNotThere) {
  if (arm_.nowhere.empty()) GTEST_SKIP() << "shows only with the first command";
  in_runtime([&] {
    const db::Target target = db::parse_url(arm_.nowhere);
    for (int round = 0; round < 3; ++round) {
      try {
        (void)subject_.driver().connect(target);
        ADD_FAILURE() << "connected to " << arm_.nowhere;
      } catch (const db::ConnectError& error) {
        EXPECT_EQ(error.sqlstate().size(), 5u);
        EXPECT_EQ(error.database(), target.text());
        if (!target.password.empty()) {
          EXPECT_EQ(std::string(error.what()).find(target.password), std::string::npos);
        }
      }
    }
  });
}

// --- prepared commands ---

TEST_P(DriverContract, APreparedCommandRunsAgainAndAgain) {
  with_connection([&](Connection& connection) {
    make_table(connection, "i BIGINT, t TEXT");
    const auto insert = connection.prepare("INSERT INTO contract (i, t) VALUES ($1, $2)");
    const auto select = connection.prepare("SELECT t FROM contract WHERE i = $1");
    EXPECT_EQ(insert->parameter_count(), 2u);
    EXPECT_EQ(select->parameter_count(), 1u);
    for (std::int64_t number = 0; number < 50; ++number) {
      const Value text = number % 7 == 3
                             ? Value()
                             : Value(std::string(static_cast<std::size_t>(number % 10), 'x'));
      EXPECT_EQ(ask(*insert, {number, text}).effect.affected_rows, 1u);
      EXPECT_EQ(ask(*select, {number}).value(), text);
    }
    EXPECT_TRUE(ask(*select, {std::int64_t{99}}).rows.empty());
    EXPECT_TRUE(ask(*select, {Value()}).rows.empty());
    EXPECT_EQ(count(connection), 50);
  });
}

TEST_P(DriverContract, ACommandPreparedTwiceIsTwo) {
  with_connection([&](Connection& connection) {
    make_table(connection);
    connection.run("INSERT INTO contract VALUES (1), (2)");
    const std::string sql = "SELECT i FROM contract WHERE i = $1";
    auto first = connection.prepare(sql);
    const auto second = connection.prepare(sql);
    EXPECT_EQ(ask(*first, {std::int64_t{1}}).value(), Value(std::int64_t{1}));
    EXPECT_EQ(ask(*second, {std::int64_t{2}}).value(), Value(std::int64_t{2}));
    first.reset();
    EXPECT_EQ(ask(*second, {std::int64_t{1}}).value(), Value(std::int64_t{1}));
    EXPECT_EQ(ask(*connection.prepare(sql), {std::int64_t{2}}).value(), Value(std::int64_t{2}));
  });
}

TEST_P(DriverContract, ManyPreparedCommandsComeAndGo) {
  with_connection([&](Connection& connection) {
    for (std::int64_t number = 0; number < 200; ++number) {
      EXPECT_EQ(integer(ask(*connection.prepare(fmt::format("SELECT {}", number))).value()),
                number);
    }
    std::vector<std::unique_ptr<db::Prepared>> many;
    for (int number = 0; number < 40; ++number) {
      many.push_back(connection.prepare(fmt::format("SELECT {}", number)));
    }
    many.clear();
    expect_in_order(connection);
  });
}

TEST_P(DriverContract, ACommandThatCannotBePrepared) {
  with_connection([&](Connection& connection) {
    for (const std::string_view sql : {"SELEC 1", "SELECT * FROM no_such_table"}) {
      EXPECT_THROW(ask(*connection.prepare(sql)), db::QueryError) << sql;
      expect_in_order(connection);
    }
  });
}

TEST_P(DriverContract, APreparedCommandAfterItsTableHasChanged) {
  if (!arm_.prepared_sees_new_columns) GTEST_SKIP() << "this driver keeps the columns it knew";
  with_connection([&](Connection& connection) {
    make_table(connection);
    connection.run("INSERT INTO contract VALUES (1)");
    auto prepared = connection.prepare("SELECT * FROM contract");
    EXPECT_EQ(ask(*prepared).columns.size(), 1u);
    connection.run("ALTER TABLE contract ADD COLUMN j BIGINT");
    Result result;
    try {
      result = ask(*prepared);
    } catch (const db::QueryError& error) {
      EXPECT_TRUE(connection.is_stale_plan(error.sqlstate())) << error.what();
      prepared = connection.prepare("SELECT * FROM contract");
      result = ask(*prepared);
    }
    EXPECT_EQ(result.columns, (std::vector<std::string>{"i", "j"}));
    ASSERT_EQ(result.rows.size(), 1u);
    EXPECT_EQ(result.rows[0].size(), 2u);
    EXPECT_FALSE(connection.is_stale_plan("23000"));
  });
}

TEST_P(DriverContract, ManyRowsOfAPreparedCommand) {
  with_connection([&](Connection& connection) {
    const auto prepared = connection.prepare(arm_.many_rows);
    for (int round = 0; round < 2; ++round) {
      const Result result = ask(*prepared);
      ASSERT_EQ(result.rows.size(), 100'000u);
      EXPECT_EQ(integer(result.rows.back()[0]), 100'000);
    }
  });
}

// --- transactions ---

TEST_P(DriverContract, TheTransactionStateIsTheServers) {
  with_connection([&](Connection& connection) {
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
  });
}

TEST_P(DriverContract, ATransactionOfRawCommandsIsOne) {
  with_connection([&](Connection& connection) {
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
  });
}

TEST_P(DriverContract, AnErrorInATransaction) {
  with_connection([&](Connection& connection) {
    make_table(connection);
    connection.begin();
    connection.run("INSERT INTO contract VALUES (1)");
    expect_query_error(connection, "SELECT * FROM no_such_table");
    EXPECT_FALSE(connection.broken());
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
  });
}

TEST_P(DriverContract, SavepointsAreKeptAndTakenBack) {
  with_connection([&](Connection& connection) {
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
  });
}

TEST_P(DriverContract, ASecondConnectionSeesWhatIsCommitted) {
  with_two([&](Connection& one, Connection& other) {
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
  });
}

TEST_P(DriverContract, ATableMadeInATransaction) {
  with_two([&](Connection& one, Connection& other) {
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
  });
}

TEST_P(DriverContract, AConnectionThatGoesCommitsNothing) {
  in_runtime([&] {
    auto connection = subject_.connect();
    make_table(*connection);
    connection->begin();
    connection->run("INSERT INTO contract VALUES (1)");
    connection.reset();
    connection = subject_.connect();
    EXPECT_EQ(count(*connection), 0);
    connection->run("INSERT INTO contract VALUES (2)");
    EXPECT_EQ(count(*connection), 1);
  });
}

// --- life of a session ---

TEST_P(DriverContract, AConnectionAnswers) {
  with_connection([&](Connection& connection) {
    EXPECT_FALSE(connection.broken());
    for (int round = 0; round < 3; ++round) {
      EXPECT_TRUE(connection.looks_alive());
      connection.ping();
      expect_in_order(connection);
    }
    connection.begin();
    connection.ping();
    EXPECT_EQ(connection.transaction(), TransactionState::Open);
  });
}

TEST_P(DriverContract, ResetMakesTheSessionNew) {
  with_connection([&](Connection& connection) {
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
  });
}

TEST_P(DriverContract, ResetEndsATransaction) {
  with_two([&](Connection& one, Connection& other) {
    make_table(one);
    one.begin();
    one.run("INSERT INTO contract VALUES (1)");
    one.reset_session();
    EXPECT_EQ(one.transaction(), TransactionState::None);
    EXPECT_EQ(count(one), 0);
    EXPECT_EQ(count(other), 0);
    other.run("INSERT INTO contract VALUES (2)");  // Nothing is locked.
    EXPECT_EQ(count(one), 1);
  });
}

TEST_P(DriverContract, PreparedCommandsMayOutliveAReset) {
  with_connection([&](Connection& connection) {
    auto prepared = connection.prepare("SELECT 1");
    ask(*prepared);
    connection.reset_session();
    const auto other = connection.prepare("SELECT 2");
    prepared.reset();
    EXPECT_EQ(integer(ask(*other).value()), 2);
    expect_in_order(connection);
  });
}

TEST_P(DriverContract, AnAttributeIsSet) {
  with_connection([&](Connection& connection) {
    connection.set_attribute(arm_.attribute, arm_.attribute_value);
    const Value shown = ask(connection, arm_.show_attribute).value();
    const auto* const text = std::get_if<std::string>(&shown);
    EXPECT_EQ(text != nullptr ? *text : fmt::format("{}", integer(shown)), arm_.attribute_value);
    expect_in_order(connection);
  });
}

TEST_P(DriverContract, AnAttributeIsNoWayIn) {
  with_connection([&](Connection& connection) {
    make_table(connection);
    for (const std::string_view name :
         {"", "x; DROP TABLE contract", "x = 1; DROP TABLE contract; --", "\"x", "a'b", "x y"}) {
      EXPECT_THROW(connection.set_attribute(name, "1"), Error) << name;
    }
    for (const std::string_view value : {"1; DROP TABLE contract", "1'; DROP TABLE contract; --",
                                         "\\'; DROP TABLE contract; --"}) {
      try {
        connection.set_attribute(arm_.attribute, value);
      } catch (const Error&) {
      }
    }
    connection.reset_session();
    EXPECT_EQ(count(connection), 0);
  });
}

// --- suspension ---

TEST_P(DriverContract, ACommandBlocksNobodyElse) {
  in_runtime([&] {
    auto connection = subject_.connect();
    auto slow = spawn("slow", [&] { ask(*connection, arm_.endless); });
    for (int round = 0; round < 20; ++round) delay(1ms);
    EXPECT_FALSE(slow->is_completed());
    slow->cancel();
    EXPECT_THROW(await(slow), Cancellation);
    interrupt(*connection);
  });
}

TEST_P(DriverContract, TwoConnectionsWorkAtTheSameTime) {
  in_runtime([&] {
    auto one = subject_.connect();
    auto other = subject_.connect();
    auto slow = spawn("slow", [&] { ask(*one, arm_.endless); });
    for (int round = 0; round < 20; ++round) expect_in_order(*other);
    EXPECT_FALSE(slow->is_completed());
    slow->cancel();
    EXPECT_THROW(await(slow), Cancellation);
    interrupt(*one);
    expect_in_order(*other);
  });
}

// --- interrupts ---

TEST_P(DriverContract, ACommandIsStoppedWheneverItIsCancelled) {
  in_runtime([&] {
    auto connection = subject_.connect();
    for (const auto patience : {0ms, 1ms, 2ms, 5ms, 30ms, 100ms}) {
      for (const Fetch fetch : {Fetch::All, Fetch::ByRows}) {
        SCOPED_TRACE(fmt::format("after {} ms", patience.count()));
        EXPECT_TRUE(cancelled_after(patience, [&] { ask(*connection, arm_.endless, {}, fetch); }));
        interrupt(*connection);
        if (connection->broken()) {
          connection = subject_.connect();
        }
        expect_in_order(*connection);
        EXPECT_EQ(connection->transaction(), TransactionState::None);
      }
    }
  });
}

TEST_P(DriverContract, APreparedCommandIsStopped) {
  in_runtime([&] {
    auto connection = subject_.connect();
    auto prepared = connection->prepare(arm_.endless);
    for (const auto patience : {0ms, 1ms, 30ms}) {
      EXPECT_TRUE(cancelled_after(patience, [&] { ask(*prepared); }));
      interrupt(*connection);
      if (connection->broken()) {
        prepared.reset();
        connection = subject_.connect();
        prepared = connection->prepare(arm_.endless);
      }
      expect_in_order(*connection);
    }
  });
}

TEST_P(DriverContract, AnAnswerIsStoppedWheneverItIsCancelled) {
  in_runtime([&] {
    auto connection = subject_.connect();
    for (const auto patience : {0ms, 1ms, 2ms, 4ms, 8ms, 16ms}) {
      const bool cancelled =
          cancelled_after(patience, [&] { ask(*connection, arm_.many_rows, {}, Fetch::ByRows); });
      if (cancelled) interrupt(*connection);
      if (connection->broken()) connection = subject_.connect();
      expect_in_order(*connection);
    }
  });
}

TEST_P(DriverContract, ParametersAreNotUsedAfterTheCall) {
  in_runtime([&] {
    auto connection = subject_.connect();
    make_kinds(*connection);
    for (const auto patience : {0ms, 1ms, 2ms, 5ms}) {
      const bool cancelled = cancelled_after(patience, [&] {
        const std::string text(60'000, 'x');
        const Bytes bytes(4 << 20);
        ask(*connection, "INSERT INTO contract (t, b) VALUES ($1, $2)", {text, bytes});
      });
      if (cancelled) interrupt(*connection);
      if (connection->broken()) connection = subject_.connect();
      expect_in_order(*connection);
    }
    EXPECT_EQ(ask_integer(*connection, "SELECT count(*) FROM contract WHERE t IS NULL"), 0);
  });
}

TEST_P(DriverContract, AStatementIsDoneOrNotDone) {
  in_runtime([&] {
    auto connection = subject_.connect();
    make_table(*connection);
    std::int64_t expected = 0;
    for (const auto patience : {0ms, 2ms, 8ms, 20ms, 50ms}) {
      const bool cancelled = cancelled_after(patience, [&] {
        connection->run("INSERT INTO contract SELECT n FROM (" + arm_.many_rows + ") AS numbers");
      });
      if (cancelled) interrupt(*connection);
      if (connection->broken()) connection = subject_.connect();
      const std::int64_t rows = count(*connection);
      EXPECT_TRUE(rows == expected || rows == expected + 100'000) << rows;
      EXPECT_TRUE(cancelled || rows == expected + 100'000);
      expected = rows;
    }
  });
}

TEST_P(DriverContract, CallsOfEveryKindAreCancelled) {
  const std::vector<std::function<void(Connection&)>> calls = {
      [](Connection& connection) { connection.begin(); },
      [](Connection& connection) { (void)connection.prepare("SELECT 1"); },
      [](Connection& connection) { connection.ping(); },
      [](Connection& connection) { connection.reset_session(); },
      [&](Connection& connection) {
        connection.set_attribute(arm_.attribute, arm_.attribute_value);
      },
  };
  in_runtime([&] {
    auto connection = subject_.connect();
    for (const auto& call : calls) {
      for (int round = 0; round < 3; ++round) {
        const bool cancelled = cancelled_after(0ms, [&] { call(*connection); });
        if (cancelled) interrupt(*connection);
        if (connection->broken()) connection = subject_.connect();
        expect_in_order(*connection);
        if (connection->transaction() != TransactionState::None) connection->rollback();
      }
    }
  });
}

TEST_P(DriverContract, ConnectingIsCancelled) {
  in_runtime([&] {
    for (const auto patience : {0ms, 1ms, 2ms, 4ms}) {
      cancelled_after(patience, [&] { expect_in_order(*subject_.connect()); });
    }
    expect_in_order(*subject_.connect());
  });
}

TEST_P(DriverContract, AnAnswerDroppedHalfWay) {
  with_connection([&](Connection& connection) {
    for (const int rows : {0, 1, 2, 255, 256, 257, 5000}) {
      for (const bool prepared : {false, true}) {
        SCOPED_TRACE(fmt::format("{} rows", rows));
        {
          const auto command = prepared ? connection.prepare(arm_.many_rows) : nullptr;
          const auto answer = prepared ? command->execute({})
                                       : connection.execute(arm_.many_rows, {}, Fetch::ByRows);
          std::vector<Cell> row;
          for (int number = 0; number < rows; ++number) ASSERT_TRUE(answer->next(row));
        }
        interrupt(connection);
        ASSERT_FALSE(connection.broken());
        expect_in_order(connection);
      }
    }
  });
}

TEST_P(DriverContract, APreparedCommandRunsAgainAfterItsAnswerWasDropped) {
  with_connection([&](Connection& connection) {
    const auto prepared = connection.prepare(arm_.many_rows);
    for (int round = 0; round < 3; ++round) {
      {
        const auto answer = prepared->execute({});
        std::vector<Cell> row;
        ASSERT_TRUE(answer->next(row));
        EXPECT_EQ(integer(db::own(row[0])), 1);
      }
      interrupt(connection);
      ASSERT_FALSE(connection.broken());
    }
    EXPECT_EQ(ask(*prepared).rows.size(), 100'000u);
  });
}

TEST_P(DriverContract, AnAnswerDroppedInATransaction) {
  with_two([&](Connection& one, Connection& other) {
    make_table(one);
    one.begin();
    one.run("INSERT INTO contract VALUES (1)");
    {
      const auto answer = one.execute(arm_.many_rows, {}, Fetch::ByRows);
      std::vector<Cell> row;
      ASSERT_TRUE(answer->next(row));
    }
    interrupt(one);
    ASSERT_FALSE(one.broken());
    EXPECT_NE(one.transaction(), TransactionState::None);
    const bool open = one.transaction() == TransactionState::Open;
    if (open) {
      one.commit();
    } else {
      one.rollback();
    }
    EXPECT_EQ(count(other), open ? 1 : 0);
  });
}

TEST_P(DriverContract, AnInterruptOfNothing) {
  with_connection([&](Connection& connection) {
    make_table(connection);
    for (int round = 0; round < 5; ++round) {
      interrupt(connection);
      ASSERT_FALSE(connection.broken());
      for (int command = 0; command < 10; ++command) expect_in_order(connection);
    }
    connection.begin();
    connection.run("INSERT INTO contract VALUES (1)");
    interrupt(connection);
    EXPECT_EQ(connection.transaction(), TransactionState::Open);
    connection.commit();
    EXPECT_EQ(count(connection), 1);
  });
}

TEST_P(DriverContract, AnInterruptComesTooLateForTheNextCommand) {
  with_connection([&](Connection& connection) {
    // The command has ended by itself, or almost, when it is stopped.
    for (int round = 0; round < 50; ++round) {
      if (cancelled_after(0ms, [&] { ask(connection, "SELECT 1"); })) interrupt(connection);
      ASSERT_FALSE(connection.broken());
      expect_in_order(connection);
    }
  });
}

TEST_P(DriverContract, AConnectionGoesInTheMiddleOfACommand) {
  in_runtime([&] {
    for (const auto patience : {0ms, 5ms, 50ms}) {
      auto connection = subject_.connect();
      EXPECT_TRUE(cancelled_after(patience, [&] { ask(*connection, arm_.endless); }));
      const Instant start = now();
      connection.reset();
      EXPECT_LT(now() - start, 2s);
    }
    // More of them than there are threads for work.
    for (int round = 0; round < 6; ++round) {
      auto connection = subject_.connect();
      EXPECT_TRUE(cancelled_after(5ms, [&] { ask(*connection, arm_.endless); }));
    }
    expect_in_order(*subject_.connect());
  });
}

TEST_P(DriverContract, AConnectionGoesInTheMiddleOfAnAnswer) {
  in_runtime([&] {
    for (int round = 0; round < 3; ++round) {
      auto connection = subject_.connect();
      {
        const auto answer = connection->execute(arm_.many_rows, {}, Fetch::ByRows);
        std::vector<Cell> row;
        ASSERT_TRUE(answer->next(row));
      }
      connection.reset();
    }
    expect_in_order(*subject_.connect());
  });
}

TEST_P(DriverContract, ARunEndsWithACommandInTheMiddle) {
  const auto run = [&] {
    Runtime runtime(uv::make_reactor(), {.handle_stop_signals = false});
    runtime.run([&] {
      spawn("left", [connection = std::shared_ptr<Connection>(subject_.connect()), this] {
        ask(*connection, arm_.endless);
      });
      delay(10ms);
      exit(0);
    });
  };
  EXPECT_NO_THROW(run());
  with_connection([&](Connection& connection) { expect_in_order(connection); });
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DriverContract);
INSTANTIATE_TEST_SUITE_P(, DriverContract, ::testing::ValuesIn(arm_names()),
                         [](const auto& arm) { return arm.param; });

}  // namespace
}  // namespace fermata::database_test
