// SPDX-License-Identifier: Apache-2.0
// What is said about databases in text: URLs, commands, values.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/db/placeholders.hpp"
#include "fermata/db/sql_text.hpp"
#include "fermata/db/target.hpp"
#include "fermata/db/value.hpp"

namespace fermata::db {
namespace {

// --- URLs ---

TEST(DbTarget, HasWhatTheUrlSays) {
  const Target target =
      parse_url("postgresql://ann:p%40ss%3Aw%2F@db.example:5433/shop%20one?sslmode=off&a=b%26c");
  EXPECT_EQ(target.scheme, "postgresql");
  EXPECT_EQ(target.user, "ann");
  EXPECT_EQ(target.password, "p@ss:w/");
  EXPECT_EQ(target.host, "db.example");
  EXPECT_EQ(target.port, 5433);
  EXPECT_EQ(target.database, "shop one");
  ASSERT_EQ(target.options.size(), 2u);
  EXPECT_EQ(*target.option("sslmode"), "off");
  EXPECT_EQ(*target.option("a"), "b&c");
  EXPECT_EQ(target.option("b"), nullptr);
  EXPECT_EQ(target.text(), "postgresql://ann@db.example:5433/shop one");
}

TEST(DbTarget, HasNothingThatTheUrlLeavesOut) {
  const Target target = parse_url("mariadb://");
  EXPECT_EQ(target.scheme, "mariadb");
  EXPECT_TRUE(target.user.empty() && target.password.empty() && target.host.empty());
  EXPECT_TRUE(target.database.empty() && target.options.empty());
  EXPECT_EQ(target.port, std::nullopt);
  EXPECT_EQ(parse_url("mariadb://host").host, "host");
  EXPECT_EQ(parse_url("mariadb://host?a=").host, "host");
  EXPECT_EQ(*parse_url("mariadb://host?a=").option("a"), "");
  EXPECT_EQ(parse_url("mariadb://ann@/x").user, "ann");
  EXPECT_EQ(parse_url("mariadb://:secret@host/x").password, "secret");
  EXPECT_EQ(parse_url("mariadb://ann:@host/x").password, "");
}

TEST(DbTarget, APathIsWhatComesAfterTheSlash) {
  EXPECT_EQ(parse_url("sqlite:///shop.db").database, "shop.db");
  EXPECT_EQ(parse_url("sqlite:////var/lib/shop.db").database, "/var/lib/shop.db");
  EXPECT_EQ(parse_url("sqlite:////home/ann@work/shop.db").database, "/home/ann@work/shop.db");
  EXPECT_EQ(parse_url("sqlite:///file::memory:?cache=shared").database, "file::memory:");
  EXPECT_EQ(parse_url("sqlite:////a/b.db").text(), "sqlite:////a/b.db");
}

TEST(DbTarget, AnAddressOfIPv6HasBracketsInTheUrlAlone) {
  const Target target = parse_url("postgresql://ann@[::1]:5432/x");
  EXPECT_EQ(target.host, "::1");
  EXPECT_EQ(target.port, 5432);
  EXPECT_EQ(target.text(), "postgresql://ann@[::1]:5432/x");
  EXPECT_EQ(parse_url("postgresql://[fe80::1]/x").port, std::nullopt);
}

TEST(DbTarget, AnAtInThePasswordMayStandAsItIs) {
  const Target target = parse_url("postgresql://ann:p@ss@host/x");
  EXPECT_EQ(target.user, "ann");
  EXPECT_EQ(target.password, "p@ss");
  EXPECT_EQ(target.host, "host");
}

TEST(DbTarget, TheLastOptionOfANameCounts) {
  EXPECT_EQ(*parse_url("x://h/d?a=1&b=2&a=3").option("a"), "3");
  EXPECT_EQ(*parse_url("x://h/d?a=1=2").option("a"), "1=2");
}

TEST(DbTarget, BadUrlsAreRefused) {
  for (const std::string_view url : {"",
                                     "postgresql",
                                     "postgresql:",
                                     "postgresql:/host",
                                     "://host/x",
                                     "Postgre SQL://host/x",
                                     "p://host:0/x",
                                     "p://host:65536/x",
                                     "p://host:-1/x",
                                     "p://host:/x",
                                     "p://host:5x/x",
                                     "p://[::1/x",
                                     "p://[::1]5432/x",
                                     "p://h/%",
                                     "p://h/%4",
                                     "p://h/%zz",
                                     "p://h/%00",
                                     "p://h/x?a",
                                     "p://h/x?=1",
                                     "p://h/x?a=1&b",
                                     "p://h/x?a=1&&b=2",
                                     "p://a%zz@h/x",
                                     "p://host:5432/x@y"}) {
    EXPECT_THROW((void)parse_url(url), UsageError) << url;
  }
  EXPECT_THROW((void)parse_url(std::string_view("p://h/a\0b", 9)), UsageError);
}

TEST(DbTarget, NoErrorShowsAPassword) {
  for (const std::string_view url : {
           "p://ann:secret@host:0/x",
           "p://ann:secret@host/x?a",
           "p://ann:secret@host/%zz",
           "p://ann:secret%zz@host/x",
           "p://ann:secret",
           "p://ann:secret/x",
           "p://ann:se/cret@host/x",
           "p://ann:5432/secret@host/x",
           "p://ann:se?cret@host/x",
           "p://ann:se@cret/x@host:0/x",
           "p://ann:x:secret@host:0/x",
           "p:/ann:secret@host/x",
           "p:ann:se://secret@host/x",
           "ann:secret@host/x",
           "//ann:secret@host/x",
           "ann:secret@p://host/x",
           "p://host/x?password=secret&bad",
           "p://host:1/x?password=a@secret&bad",
           "p://ann:secret@host/x?password=a@b&bad",
       }) {
    try {
      (void)parse_url(url);
      ADD_FAILURE() << "no error: " << url;
    } catch (const UsageError& error) {
      const std::string text = error.what();
      EXPECT_EQ(text.find("secret"), std::string::npos) << text;
      EXPECT_EQ(text.find("cret"), std::string::npos) << text;
    }
  }
}

TEST(DbTarget, AnErrorShowsTheRestOfTheUrl) {
  try {
    (void)parse_url("postgresql://ann:secret@host:99999/shop?a=1");
    ADD_FAILURE();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "database URL \"postgresql://ann:***@host:99999/shop\": expected a port between 1 "
                 "and 65535");
  }
}

TEST(DbTarget, ItsTextHasNoPasswordThatASlashTooManyMovesToTheDatabase) {
  const Target target = parse_url("postgresql:///ann:secret@host/shop");
  EXPECT_EQ(target.text(), "postgresql:///ann:***@host/shop");
}

// --- placeholders ---

TEST(DbPlaceholders, AreNumberedOrInTheOrderOfTheirUse) {
  const std::string_view sql = "SELECT $2, $1 + $2 WHERE a = $10";
  const Placeholders numbered = replace_placeholders(sql, PlaceholderStyle::Numbered);
  EXPECT_EQ(numbered.sql, "SELECT ?2, ?1 + ?2 WHERE a = ?10");
  EXPECT_EQ(numbered.count, 10u);
  const Placeholders positional = replace_placeholders(sql, PlaceholderStyle::Positional);
  EXPECT_EQ(positional.sql, "SELECT ?, ? + ? WHERE a = ?");
  EXPECT_EQ(positional.order, (std::vector<std::size_t>{2, 1, 2, 10}));
  EXPECT_EQ(positional.count, 10u);
}

TEST(DbPlaceholders, ACommandWithoutThemStaysAsItIs) {
  for (const std::string_view sql :
       {"", "$", "SELECT 1", "$0", "a $ b", "SELECT '$1'", "SELECT 'it''s $1'", "SELECT \"$1\"",
        "SELECT `$1`", "SELECT 1 -- $1", "SELECT 1 /* $1 */", "SELECT $$ $1 $$",
        "SELECT $tag$ $1 $$ $tag$", "SELECT '$1", "SELECT /* $1", "SELECT E'it\\'s $1'",
        "SELECT amount$1, _$2, größe$3", "$99999999999999999999999"}) {
    const Placeholders same = replace_placeholders(sql, PlaceholderStyle::Positional);
    EXPECT_EQ(same.sql, sql);
    EXPECT_EQ(same.count, 0u) << sql;
    EXPECT_TRUE(same.order.empty());
  }
}

TEST(DbPlaceholders, StandNextToAnything) {
  const auto replaced = [](std::string_view sql) {
    return replace_placeholders(sql, PlaceholderStyle::Positional).sql;
  };
  EXPECT_EQ(replaced("$1"), "?");
  EXPECT_EQ(replaced("($1,$2)"), "(?,?)");
  EXPECT_EQ(replaced("a=$1;"), "a=?;");
  EXPECT_EQ(replaced("'x'$1\"y\""), "'x'?\"y\"");
  EXPECT_EQ(replaced("$1::int"), "?::int");
  EXPECT_EQ(replaced("-- x\n$1"), "-- x\n?");
  EXPECT_EQ(replaced("/* x */$1/* y */"), "/* x */?/* y */");
  EXPECT_EQ(replaced("5-$1"), "5-?");
  EXPECT_EQ(replaced("$$x$$ $1"), "$$x$$ ?");
  EXPECT_EQ(replaced("'a\\' $1"), "'a\\' ?");
}

TEST(DbPlaceholders, QuotesAreOtherOnesInMySql) {
  const auto replaced = [](std::string_view sql) {
    return replace_placeholders(sql, PlaceholderStyle::Positional, SqlDialect::MySql).sql;
  };
  EXPECT_EQ(replaced("'it\\'s $1' $1"), "'it\\'s $1' ?");
  EXPECT_EQ(replaced("'a\\\\' $1"), "'a\\\\' ?");
  EXPECT_EQ(replaced("\"a\\\"$1\" $1"), "\"a\\\"$1\" ?");
  EXPECT_EQ(replaced("`a\\` $1"), "`a\\` ?");
  EXPECT_EQ(replaced("# it's $1\n$1"), "# it's $1\n?");
  EXPECT_EQ(replaced("5--$1"), "5--?");
  EXPECT_EQ(replaced("-- $1\n$1"), "-- $1\n?");
  EXPECT_EQ(replaced("--"), "--");
  EXPECT_EQ(replaced("'\\"), "'\\");
}

// --- commands ---

TEST(DbSqlText, TheLengthOfWhatIsQuoted) {
  EXPECT_EQ(quoted_length(""), 0u);
  EXPECT_EQ(quoted_length("x'y'"), 0u);
  EXPECT_EQ(quoted_length("'y'z"), 3u);
  EXPECT_EQ(quoted_length("\"y\"z"), 3u);
  EXPECT_EQ(quoted_length("`y`z"), 3u);
  EXPECT_EQ(quoted_length("--y\nz"), 4u);
  EXPECT_EQ(quoted_length("- -"), 0u);
  EXPECT_EQ(quoted_length("/*y*/z"), 5u);
  EXPECT_EQ(quoted_length("/*/z"), 4u);
  EXPECT_EQ(quoted_length("$$y$$z"), 5u);
  EXPECT_EQ(quoted_length("$a$y$b$$a$z"), 10u);
  EXPECT_EQ(quoted_length("$1$y$1$"), 0u);
  EXPECT_EQ(quoted_length("$"), 0u);
  EXPECT_EQ(quoted_length("'y"), 2u);
  EXPECT_EQ(quoted_length("#y", SqlDialect::MySql), 2u);
  EXPECT_EQ(quoted_length("$$y$$", SqlDialect::MySql), 0u);
}

TEST(DbSqlText, TheLengthOfAWord) {
  EXPECT_EQ(word_length(""), 0u);
  EXPECT_EQ(word_length("1a"), 0u);
  EXPECT_EQ(word_length("$a"), 0u);
  EXPECT_EQ(word_length("a1_$2 b"), 5u);
}

TEST(DbSqlText, CommandsThatLeaveTheSessionAsItIs) {
  for (const std::string_view sql : {"",
                                     "  -- nothing\n",
                                     "SELECT 1",
                                     "select * from t where a = 'SET x'",
                                     "SELECT 1;",
                                     "SELECT 1 ; -- done",
                                     "/* TEMP */ SELECT 1",
                                     "insert into t values ($1)",
                                     "UPDATE t SET a = 1",
                                     "DELETE FROM t",
                                     "WITH x AS (SELECT 1) SELECT * FROM x",
                                     "BEGIN",
                                     "COMMIT;",
                                     "ROLLBACK",
                                     "SAVEPOINT a",
                                     "CREATE TABLE t (i INT)",
                                     "DROP TABLE t",
                                     "SELECT * FROM temperature",
                                     "SELECT E'it\\'s'",
                                     "SELECT $$TEMP$$",
                                     "SELECT a$b$c FROM t"}) {
    EXPECT_FALSE(may_change_session(sql)) << sql;
  }
}

TEST(DbSqlText, CommandsThatMayChangeTheSession) {
  for (const std::string_view sql : {"SET x = 1",
                                     "set search_path to x",
                                     "RESET ALL",
                                     "PRAGMA cache_size = 1",
                                     "ATTACH 'x' AS y",
                                     "LISTEN a",
                                     "PREPARE p AS SELECT 1",
                                     "DECLARE c CURSOR FOR SELECT 1",
                                     "USE other",
                                     "LOCK TABLES t READ",
                                     "CALL p()",
                                     "DO $$ BEGIN END $$",
                                     "COPY t FROM STDIN",
                                     "CREATE TEMP TABLE t (i INT)",
                                     "create /* x */ temporary table t (i INT)",
                                     "SELECT 1 INTO TEMP t",
                                     "SELECT set_config('a', 'b', false)",
                                     "SELECT \"set_config\"('a', 'b', false)",
                                     "SELECT pg_advisory_lock(1)",
                                     "SELECT pg_try_advisory_lock_shared(1)",
                                     "SELECT GET_LOCK('a', 1)",
                                     "SELECT @a := 1",
                                     "SELECT nextval('s')",
                                     "SELECT 1; SET x = 1",
                                     "BEGIN; SET x = 1",
                                     "/*! SET x = 1 */",
                                     "SELECT 1 /*!, @a := 1 */",
                                     "SELECT 1 /*M!, GET_LOCK('a', 1) */",
                                     "SELECT '\\'', GET_LOCK(' ', 1)",
                                     "SELECT 1 # it's\n, GET_LOCK('a', 1)",
                                     "SELECT E'\\'', set_config('a', 'b', false)",
                                     "-- x\nSET x = 1",
                                     "(SELECT 1)",
                                     "whatever",
                                     "SELECT x$a$, set_config('a', 'b', false), y$a$"}) {
    EXPECT_TRUE(may_change_session(sql)) << sql;
  }
}

// --- values ---

TEST(DbValue, OwnsWhatACellRefersTo) {
  std::string text = "text";
  Bytes bytes = {std::byte{0}, std::byte{255}};
  const std::vector<Cell> cells = {
      Null(), true, std::int64_t{-1}, 0.5, std::string_view(text), BytesView(bytes)};
  std::vector<Value> values;
  for (const Cell& cell : cells) values.push_back(own(cell));
  text = "gone";
  bytes.assign(2, std::byte{7});
  EXPECT_EQ(values, (std::vector<Value>{Null(), true, std::int64_t{-1}, 0.5, std::string("text"),
                                        Bytes{std::byte{0}, std::byte{255}}}));
}

TEST(DbValue, AViewRefersToTheValue) {
  const Value text = std::string("text");
  const Cell cell = view(text);
  EXPECT_EQ(std::get<std::string_view>(cell).data(), std::get<std::string>(text).data());
  const Value bytes = Bytes(3);
  EXPECT_EQ(std::get<BytesView>(view(bytes)).data(), std::get<Bytes>(bytes).data());
  for (const Value& value :
       std::vector<Value>{Null(), false, std::int64_t{1}, 1.5, std::string("a\0b", 3), Bytes()}) {
    EXPECT_EQ(own(view(value)), value);
    EXPECT_EQ(view(value).index(), value.index());
  }
}

TEST(DbValue, SaysItsKind) {
  EXPECT_EQ(kind_of(Null()), "NULL");
  EXPECT_EQ(kind_of(true), "truth value");
  EXPECT_EQ(kind_of(std::int64_t{1}), "integer");
  EXPECT_EQ(kind_of(1.0), "number");
  EXPECT_EQ(kind_of(std::string_view("x")), "text");
  EXPECT_EQ(kind_of(BytesView()), "bytes");
}

}  // namespace
}  // namespace fermata::db
