// SPDX-License-Identifier: Apache-2.0

// Answers, values, effects and errors of every driver.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "tests/database/driver_contract.hpp"

namespace fermata::database_test {
namespace {

Bytes bytes_of(std::string_view text) {
  Bytes bytes;
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

// --- answers ---

CONTRACT(AnAnswerHasColumnsAndRows, Connection& connection) {
  for (const Fetch fetch : {Fetch::All, Fetch::ByRows}) {
    const Result result = ask(connection, "SELECT 1 AS one, 'x' AS letter", {}, fetch);
    EXPECT_EQ(result.columns, (std::vector<std::string>{"one", "letter"}));
    ASSERT_EQ(result.rows.size(), 1u);
    EXPECT_EQ(integer(result.rows[0][0]), 1);
    EXPECT_EQ(result.rows[0][1], Value(std::string("x")));
  }
}

CONTRACT(AnAnswerWithoutRowsHasColumns, Connection& connection) {
  make_kinds(connection);
  for (const Fetch fetch : {Fetch::All, Fetch::ByRows}) {
    const Result result = ask(connection, "SELECT i, t FROM contract", {}, fetch);
    EXPECT_EQ(result.columns, (std::vector<std::string>{"i", "t"}));
    EXPECT_TRUE(result.rows.empty());
  }
}

CONTRACT(ACommandOfOtherKindHasNoColumns, Connection& connection) {
  make_table(connection);
  for (const Fetch fetch : {Fetch::All, Fetch::ByRows}) {
    const Result result = ask(connection, "INSERT INTO contract VALUES (7)", {}, fetch);
    EXPECT_TRUE(result.columns.empty());
    EXPECT_TRUE(result.rows.empty());
    EXPECT_EQ(result.effect.affected_rows, 1u);
  }
  EXPECT_EQ(count(connection), 2);
}

CONTRACT(ARowFitsWhateverItIsReadInto, Connection& connection) {
  const auto answer = connection.execute("SELECT 1, 2, 3", {}, Fetch::All);
  std::vector<Cell> row(17, Cell(std::int64_t{9}));
  ASSERT_TRUE(answer->next(row));
  EXPECT_EQ(row.size(), 3u);
  EXPECT_FALSE(answer->next(row));
}

CONTRACT(ASemicolonAndCommentsAreNoSecondCommand, Connection& connection) {
  EXPECT_EQ(ask_integer(connection, "/* $1 */ SELECT 5; "), 5);
  EXPECT_EQ(ask_integer(connection, "SELECT 6 -- $1; '\n"), 6);
}

CONTRACT(TwoCommandsAreNone, Connection& connection) {
  if (!arm_.refuses_two_commands) GTEST_SKIP() << "this database runs them";
  make_table(connection);
  expect_query_error(connection, "INSERT INTO contract VALUES (1); DELETE FROM contract");
  EXPECT_EQ(count(connection), 0);
  expect_in_order(connection);
}

CONTRACT(ManyColumnsAndColumnsOfOneName, Connection& connection) {
  std::string sql = "SELECT 0 AS same";
  for (int number = 1; number < 200; ++number) sql += fmt::format(", {} AS same", number);
  const Result result = ask(connection, sql);
  ASSERT_EQ(result.columns.size(), 200u);
  ASSERT_EQ(result.rows.size(), 1u);
  for (std::size_t column = 0; column < 200; ++column) {
    EXPECT_EQ(result.columns[column], "same");
    EXPECT_EQ(integer(result.rows[0][column]), static_cast<std::int64_t>(column));
  }
}

CONTRACT(AHundredThousandRowsAsTheyAreRead, Connection& connection) {
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
}

CONTRACT(AHundredThousandRowsAtOnce, Connection& connection) {
  const auto answer = connection.execute(arm_.many_rows, {}, Fetch::All);
  std::int64_t rows = 0;
  std::vector<Cell> row;
  while (answer->next(row)) ++rows;
  EXPECT_EQ(rows, 100'000);
}

// --- values ---

CONTRACT(KindsComeBackAsTheyWent, Connection& connection) {
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
  make_kinds(connection);
  const std::string insert = "INSERT INTO contract (i, d, t, b, truth) VALUES ($1, $2, $3, $4, $5)";
  const std::string select = "SELECT i, d, t, b, truth FROM contract";
  const auto prepared_insert = connection.prepare(insert);
  const auto prepared_select = connection.prepare(select);
  for (const std::vector<Value>& row : rows) {
    SCOPED_TRACE(std::get_if<std::string>(&row[2]) != nullptr ? std::get<std::string>(row[2])
                                                              : "NULL");
    for (const bool prepared : {false, true}) {
      connection.run("DELETE FROM contract");
      const Result inserted = prepared ? ask(*prepared_insert, row) : ask(connection, insert, row);
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
}

CONTRACT(EveryByteComesBack, Connection& connection) {
  Bytes bytes;
  for (int code = 0; code < 256; ++code) bytes.push_back(static_cast<std::byte>(code));
  make_kinds(connection);
  ask(connection, "INSERT INTO contract (b) VALUES ($1)", {bytes});
  EXPECT_EQ(ask(connection, "SELECT b FROM contract").value(), Value(bytes));
}

CONTRACT(LongTextAndBytes, Connection& connection) {
  std::string text(1 << 16, ' ');  // MariaDB's TEXT ends just before.
  for (std::size_t at = 0; at < text.size(); ++at) text[at] = static_cast<char>('a' + at % 26);
  text.pop_back();
  Bytes bytes(3 << 20);
  for (std::size_t at = 0; at < bytes.size(); ++at) bytes[at] = static_cast<std::byte>(at * 7);
  make_kinds(connection);
  ask(connection, "INSERT INTO contract (t, b) VALUES ($1, $2)", {text, bytes});
  for (const Fetch fetch : {Fetch::All, Fetch::ByRows}) {
    const Result result = ask(connection, "SELECT t, b FROM contract", {}, fetch);
    ASSERT_EQ(result.rows.size(), 1u);
    EXPECT_TRUE(result.rows[0][0] == Value(text));
    EXPECT_TRUE(result.rows[0][1] == Value(bytes));
  }
}

CONTRACT(LongAndShortValuesInTurn, Connection& connection) {
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
}

CONTRACT(ANulInTextComesBackOrIsRefused, Connection& connection) {
  const std::string text("a\0b", 3);
  make_kinds(connection);
  try {
    ask(connection, "INSERT INTO contract (t) VALUES ($1)", {text});
    EXPECT_EQ(ask(connection, "SELECT t FROM contract").value(), Value(text));
  } catch (const db::ParameterError& error) {
    EXPECT_EQ(error.sqlstate().size(), 5u);
    EXPECT_EQ(count(connection), 0);
  }
  expect_in_order(connection);
}

CONTRACT(ANulInACommandIsRefused, Connection& connection) {
  EXPECT_THROW(ask(connection, std::string_view("SELECT 1\0 + 1", 13)), db::DatabaseError);
  EXPECT_THROW(
      {
        const auto prepared = connection.prepare(std::string_view("SELECT 1\0 + 1", 13));
        ask(*prepared);
      },
      db::DatabaseError);
  expect_in_order(connection);
}

CONTRACT(ParametersInAnyOrderAndTwice, Connection& connection) {
  make_table(connection, "a BIGINT, b BIGINT, c BIGINT, t TEXT");
  ask(connection, "INSERT INTO contract (a, b, c, t) VALUES ($2, $1, $2, '$1 ''$2')",
      {std::int64_t{1}, std::int64_t{2}});
  const Result result = ask(connection, "SELECT a, b, c, t FROM contract");
  ASSERT_EQ(result.rows.size(), 1u);
  EXPECT_EQ(result.rows[0], (std::vector<Value>{std::int64_t{2}, std::int64_t{1}, std::int64_t{2},
                                                std::string("$1 '$2")}));
}

CONTRACT(MoreThanNineParameters, Connection& connection) {
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
}

CONTRACT(OtherParametersThanTheCommandHas, Connection& connection) {
  const Value one = std::int64_t{1};
  make_table(connection, "i BIGINT, j BIGINT");
  const std::string insert = "INSERT INTO contract (i, j) VALUES ($1, $2)";
  for (const std::vector<Value>& parameters :
       {std::vector<Value>{}, std::vector<Value>{one}, std::vector<Value>{one, one, one}}) {
    EXPECT_THROW(ask(connection, insert, parameters), db::ParameterError);
    EXPECT_FALSE(connection.is_broken());
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
}

// --- effects ---

CONTRACT(AffectedRows, Connection& connection) {
  make_table(connection);
  EXPECT_EQ(connection.run("INSERT INTO contract VALUES (1), (2), (3)").affected_rows, 3u);
  EXPECT_EQ(connection.run("UPDATE contract SET i = i + 10 WHERE i < 3").affected_rows, 2u);
  EXPECT_EQ(connection.run("UPDATE contract SET i = 0 WHERE i = 99").affected_rows, 0u);
  EXPECT_EQ(connection.run("DELETE FROM contract WHERE i = 99").affected_rows, 0u);
  EXPECT_EQ(connection.run("DELETE FROM contract").affected_rows, 3u);
  EXPECT_EQ(connection.run("DROP TABLE contract").affected_rows, 0u);
  EXPECT_EQ(connection.run("SELECT 1").affected_rows, 0u);
}

CONTRACT(TheIdOfTheLastRowInserted, Connection& connection) {
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
}

// --- errors ---

CONTRACT(ACommandThatFailsLeavesTheConnectionInOrder, Connection& connection) {
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
}

CONTRACT(ABrokenConstraintIsOfClass23, Connection& connection) {
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
}

CONTRACT(AnErrorAmidTheRowsEndsTheAnswer, Connection& connection) {
  for (const Fetch fetch : {Fetch::All, Fetch::ByRows}) {
    EXPECT_THROW(ask(connection, arm_.failing_row, {}, fetch), db::QueryError);
    expect_in_order(connection);
  }
}

CONTRACT(NoConnectionToADatabaseThatIsNotThere, Subject& subject) {
  if (arm_.nowhere.empty()) GTEST_SKIP() << "shows only with the first command";
  const db::Target target = db::parse_url(arm_.nowhere);
  for (int round = 0; round < 3; ++round) {
    try {
      (void)subject.driver().connect(target);
      ADD_FAILURE() << "connected to " << arm_.nowhere;
    } catch (const db::ConnectError& error) {
      EXPECT_EQ(error.sqlstate().size(), 5u);
      EXPECT_EQ(error.database(), target.text());
      if (!target.password.empty()) {
        EXPECT_EQ(std::string(error.what()).find(target.password), std::string::npos);
      }
    }
  }
}

// --- prepared commands ---

CONTRACT(APreparedCommandRunsAgainAndAgain, Connection& connection) {
  make_table(connection, "i BIGINT, t TEXT");
  const auto insert = connection.prepare("INSERT INTO contract (i, t) VALUES ($1, $2)");
  const auto select = connection.prepare("SELECT t FROM contract WHERE i = $1");
  EXPECT_EQ(insert->parameter_count(), 2u);
  EXPECT_EQ(select->parameter_count(), 1u);
  for (std::int64_t number = 0; number < 50; ++number) {
    const Value text =
        number % 7 == 3 ? Value() : Value(std::string(static_cast<std::size_t>(number % 10), 'x'));
    EXPECT_EQ(ask(*insert, {number, text}).effect.affected_rows, 1u);
    EXPECT_EQ(ask(*select, {number}).value(), text);
  }
  EXPECT_TRUE(ask(*select, {std::int64_t{99}}).rows.empty());
  EXPECT_TRUE(ask(*select, {Value()}).rows.empty());
  EXPECT_EQ(count(connection), 50);
}

CONTRACT(ACommandPreparedTwiceIsTwo, Connection& connection) {
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
}

CONTRACT(ManyPreparedCommandsComeAndGo, Connection& connection) {
  for (std::int64_t number = 0; number < 200; ++number) {
    EXPECT_EQ(integer(ask(*connection.prepare(fmt::format("SELECT {}", number))).value()), number);
  }
  std::vector<std::unique_ptr<db::Prepared>> many;
  for (int number = 0; number < 40; ++number) {
    many.push_back(connection.prepare(fmt::format("SELECT {}", number)));
  }
  many.clear();
  expect_in_order(connection);
}

CONTRACT(ACommandThatCannotBePrepared, Connection& connection) {
  for (const std::string_view sql : {"SELEC 1", "SELECT * FROM no_such_table"}) {
    EXPECT_THROW(ask(*connection.prepare(sql)), db::QueryError) << sql;
    expect_in_order(connection);
  }
}

CONTRACT(APreparedCommandAfterItsTableHasChanged, Connection& connection) {
  if (!arm_.prepared_sees_new_columns) GTEST_SKIP() << "this driver keeps the columns it knew";
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
}

CONTRACT(ManyRowsOfAPreparedCommand, Connection& connection) {
  const auto prepared = connection.prepare(arm_.many_rows);
  for (int round = 0; round < 2; ++round) {
    const Result result = ask(*prepared);
    ASSERT_EQ(result.rows.size(), 100'000u);
    EXPECT_EQ(integer(result.rows.back()[0]), 100'000);
  }
}

INSTANTIATE_TEST_SUITE_P(, DriverContract, ::testing::ValuesIn(arm_names()),
                         [](const auto& arm) { return arm.param; });

}  // namespace
}  // namespace fermata::database_test
