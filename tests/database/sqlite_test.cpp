// SPDX-License-Identifier: Apache-2.0
// What is SQLite's alone.
#include <fmt/format.h>

#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "tests/database/driver_fixture.hpp"

namespace fermata::database_test {
namespace {

using namespace std::chrono_literals;
using db::Connection;
using db::Value;

class Sqlite : public DriverTest {
 protected:
  Sqlite() {
    std::string folder = ::testing::TempDir() + "fermata_sqlite_XXXXXX";
    folder_ = ::mkdtemp(folder.data());
  }
  ~Sqlite() override { std::filesystem::remove_all(folder_); }

  void SetUp() override {
    const std::vector<std::string> names = arm_names();
    if (std::find(names.begin(), names.end(), "sqlite") == names.end()) {
      GTEST_SKIP() << "this build has no driver for it";
    }
    driver_ = db::make_driver("sqlite");
  }

  [[nodiscard]] std::string url(std::string_view options = "") const {
    return fmt::format("sqlite:///{}/test.db{}", folder_, options);
  }
  [[nodiscard]] std::string path() const { return folder_ + "/test.db"; }

  [[nodiscard]] std::unique_ptr<Connection> connect(std::string_view url) {
    return driver_->connect(db::parse_url(url));
  }

  /// What is wrong with `url`; empty when nothing is.
  [[nodiscard]] std::string check(std::string_view url) {
    try {
      driver_->check(db::parse_url(url));
    } catch (const UsageError& error) {
      return error.what();
    }
    return {};
  }

  /// The SQLSTATE of what `call` fails with.
  template <class Call>
  std::string sqlstate_of(const Call& call) {
    try {
      call();
    } catch (const db::DatabaseError& error) {
      return error.sqlstate();
    }
    return "none";
  }

  std::string folder_;
  std::unique_ptr<db::Driver> driver_;
};

TEST_F(Sqlite, UrlsThatCanBeConnectedTo) {
  for (const std::string_view url :
       {"sqlite:///shop.db", "sqlite:////var/shop.db", "sqlite:///shop.db?busy_timeout=0",
        "sqlite:///shop.db?mode=ro&cache=shared", "sqlite:///shop.db?transaction=immediate",
        "sqlite:///file:shop.db", "sqlite:///file::memory:?cache=shared",
        "sqlite:///file:shop?mode=memory&cache=shared", "sqlite:///:memory:?cache=shared"}) {
    EXPECT_EQ(check(url), "") << url;
  }
}

TEST_F(Sqlite, UrlsThatCannot) {
  for (const auto& [url, part] : std::vector<std::pair<std::string_view, std::string_view>>{
           {"sqlite:///:memory:", "cache=shared"},
           {"sqlite:///file::memory:", "cache=shared"},
           {"sqlite:///shop?mode=memory", "cache=shared"},
           {"sqlite:///file::memory:?cache=private", "cache=shared"},
           {"sqlite:///", "path"},
           {"sqlite:///file:", "path"},
           {"sqlite://shop.db", "three slashes"},
           {"sqlite://ann:secret@/shop.db", "three slashes"},
           {"sqlite:///shop.db?timeout=1", "no option timeout"},
           {"sqlite:///shop.db?busy_timeout=soon", "busy_timeout"},
           {"sqlite:///shop.db?busy_timeout=-1", "busy_timeout"},
           {"sqlite:///shop.db?busy_timeout=", "busy_timeout"},
           {"sqlite:///shop.db?mode=write", "mode"},
           {"sqlite:///shop.db?cache=yes", "cache"},
           {"sqlite:///shop.db?transaction=now", "transaction"},
       }) {
    EXPECT_NE(check(url).find(part), std::string::npos) << url << ": " << check(url);
    EXPECT_EQ(check(url).find("secret"), std::string::npos);
  }
}

TEST_F(Sqlite, SharedMemoryIsOneDatabaseForAsLongAsTheDriver) {
  in_runtime([&] {
    for (const std::string_view url :
         {"sqlite:///file::memory:?cache=shared",
          "sqlite:///file:a%20b%26?mode=memory&cache=shared", "sqlite:///:memory:?cache=shared"}) {
      SCOPED_TRACE(url);
      auto one = connect(url);
      one->run("DROP TABLE IF EXISTS t");
      one->run("CREATE TABLE t (i INTEGER)");
      one->run("INSERT INTO t VALUES (1)");
      EXPECT_EQ(ask_integer(*connect(url), "SELECT count(*) FROM t"), 1);
      one->reset_session();
      EXPECT_EQ(ask_integer(*one, "SELECT count(*) FROM t"), 1);
      EXPECT_TRUE(one->looks_alive());
      one.reset();
      EXPECT_EQ(ask_integer(*connect(url), "SELECT count(*) FROM t"), 1);
    }
  });
  EXPECT_FALSE(std::filesystem::exists("a b&"));
}

MAIN_TEST_F(Sqlite, WhoSharesMemoryWaitsForTheOther) {
  const std::string url = "sqlite:///file::memory:?cache=shared&busy_timeout=60000";
  auto one = connect(url);
  auto other = connect(url);
  one->run("CREATE TABLE t (i INTEGER)");
  one->begin();
  one->run("INSERT INTO t VALUES (1)");
  auto reader = spawn("reader", [&] { return ask_integer(*other, "SELECT count(*) FROM t"); });
  for (int round = 0; round < 5; ++round) delay(1ms);
  EXPECT_FALSE(reader->is_completed());
  one->commit();
  EXPECT_EQ(await(reader), 1);
}

MAIN_TEST_F(Sqlite, ReadOnlyIsRefusedWithItsState) {
  EXPECT_THROW((void)connect(url("?mode=ro")), db::ConnectError);
  EXPECT_THROW((void)connect(url("?mode=rw")), db::ConnectError);
  EXPECT_FALSE(std::filesystem::exists(path()));
  connect(url())->run("CREATE TABLE t (i INTEGER)");
  auto connection = connect(url("?mode=ro"));
  EXPECT_EQ(ask_integer(*connection, "SELECT count(*) FROM t"), 0);
  EXPECT_EQ(sqlstate_of([&] { connection->run("INSERT INTO t VALUES (1)"); }), "25006");
  EXPECT_FALSE(connection->is_broken());
}

TEST_F(Sqlite, AFileThatIsNoDatabase) {
  std::ofstream(path()) << std::string(4096, 'x');
  in_runtime([&] { EXPECT_THROW((void)connect(url()), db::ConnectError); });
  std::filesystem::remove(path());
  std::filesystem::create_directory(path());
  in_runtime([&] { EXPECT_THROW((void)connect(url()), db::ConnectError); });
}

MAIN_TEST_F(Sqlite, NamesThatMeanSomethingToSqlite) {
  for (const std::string_view name : {"a?mode=memory", "a b", "größe", "a%b", "a#b"}) {
    std::string encoded;
    for (const char c : name) encoded += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    connect(fmt::format("sqlite:///{}/{}", folder_, encoded))->run("CREATE TABLE t (i INTEGER)");
    EXPECT_TRUE(std::filesystem::exists(fmt::format("{}/{}", folder_, name))) << name;
  }
}

MAIN_TEST_F(Sqlite, ALockedDatabaseIsWaitedForThenRefused) {
  auto one = connect(url());
  one->run("CREATE TABLE t (i INTEGER)");
  auto other = connect(url("?busy_timeout=20"));
  one->run("BEGIN IMMEDIATE");
  const Instant start = now();
  EXPECT_EQ(sqlstate_of([&] { other->run("INSERT INTO t VALUES (1)"); }), "40001");
  EXPECT_GE(now() - start, 15ms);
  EXPECT_FALSE(other->is_broken());
  one->commit();
  EXPECT_EQ(other->run("INSERT INTO t VALUES (1)").affected_rows, 1u);
}

MAIN_TEST_F(Sqlite, ALockedDatabaseIsWaitedForUntilItIsFree) {
  auto one = connect(url());
  one->run("CREATE TABLE t (i INTEGER)");
  auto other = connect(url("?busy_timeout=60000"));
  one->run("BEGIN IMMEDIATE");
  auto writer = spawn("writer", [&] { other->run("INSERT INTO t VALUES (1)"); });
  for (int round = 0; round < 5; ++round) delay(1ms);
  EXPECT_FALSE(writer->is_completed());
  one->commit();
  await(writer);
  EXPECT_EQ(ask_integer(*one, "SELECT count(*) FROM t"), 1);
}

MAIN_TEST_F(Sqlite, AWaitForALockIsInterrupted) {
  auto one = connect(url());
  one->run("CREATE TABLE t (i INTEGER)");
  auto other = connect(url("?busy_timeout=600000"));
  one->run("BEGIN EXCLUSIVE");
  for (const auto patience : {0ms, 1ms, 20ms, 100ms}) {
    auto writer = spawn("writer", [&] { other->run("INSERT INTO t VALUES (1)"); });
    delay(patience);
    writer->cancel();
    EXPECT_THROW(await(writer), Cancellation);
    const Instant start = now();
    other->interrupt();
    EXPECT_LT(now() - start, 2s);
    EXPECT_FALSE(other->is_broken());
    EXPECT_EQ(ask_integer(*other, "SELECT 7"), 7);
  }
  one->commit();
  EXPECT_EQ(ask_integer(*other, "SELECT count(*) FROM t"), 0);
}

MAIN_TEST_F(Sqlite, BeginTakesTheLockWhenTheUrlSaysSo) {
  auto one = connect(url("?transaction=immediate"));
  auto other = connect(url("?transaction=immediate&busy_timeout=0"));
  one->begin();
  EXPECT_EQ(sqlstate_of([&] { other->begin(); }), "40001");
  EXPECT_EQ(other->transaction(), db::TransactionState::None);
  one->rollback();
  other->begin();
  EXPECT_EQ(other->transaction(), db::TransactionState::Open);
}

MAIN_TEST_F(Sqlite, StatesOfErrors) {
  auto connection = connect(url());
  connection->run("CREATE TABLE parent (i INTEGER PRIMARY KEY)");
  connection->run(
      "CREATE TABLE t (i INTEGER UNIQUE, n TEXT NOT NULL, c INTEGER CHECK (c < 10), "
      "p INTEGER REFERENCES parent)");
  connection->set_attribute("foreign_keys", "on");
  connection->run("INSERT INTO t VALUES (1, 'a', 1, NULL)");
  const std::vector<std::pair<std::string_view, std::string_view>> cases = {
      {"INSERT INTO t VALUES (1, 'a', 1, NULL)", "23505"},
      {"INSERT INTO t VALUES (2, NULL, 1, NULL)", "23502"},
      {"INSERT INTO t VALUES (2, 'a', 11, NULL)", "23514"},
      {"INSERT INTO t VALUES (2, 'a', 1, 99)", "23503"},
      {"SELEC", "42601"},
      {"SELECT (", "42601"},
      {"", "42601"},
      {" -- nothing", "42601"},
      {"SELECT * FROM nowhere", "42P01"},
      {"SELECT no_column FROM t", "42703"},
      {"SELECT no_function(1)", "42883"},
      {"CREATE TABLE t (i INTEGER)", "42P07"},
      {"COMMIT", "25P01"},
      {"SELECT abs(-9223372036854775807 - 1)", "22003"},
      {"SELECT zeroblob(2000000000)", "54000"},
      {"SELECT ?", "07001"},
      {"SELECT :name", "07001"},
  };
  for (const auto& [sql, state] : cases) {
    EXPECT_EQ(sqlstate_of([&, &sql = sql] { ask(*connection, sql); }), state) << sql;
    EXPECT_FALSE(connection->is_broken());
  }
  connection->begin();
  EXPECT_EQ(sqlstate_of([&] { connection->begin(); }), "25001");
  connection->rollback();
  connection->run("PRAGMA max_page_count = 1");
  EXPECT_EQ(sqlstate_of([&] { connection->run("CREATE TABLE u AS SELECT zeroblob(100000)"); }),
            "53100");
  EXPECT_EQ(ask_integer(*connection, "SELECT count(*) FROM t"), 1);
}

MAIN_TEST_F(Sqlite, ValuesThatItCannotHave) {
  auto connection = connect(url());
  const auto state = [&](const Value& value) {
    return sqlstate_of([&] { ask(*connection, "SELECT $1", {value}); });
  };
  EXPECT_EQ(state(std::nan("")), "07001");
  EXPECT_EQ(state(std::string("a\0b", 3)), "07001");
  EXPECT_EQ(state(db::Bytes(1'000'000'001)), "07001");
  EXPECT_EQ(ask(*connection, "SELECT $1", {std::numeric_limits<double>::infinity()}).value(),
            Value(std::numeric_limits<double>::infinity()));
}

MAIN_TEST_F(Sqlite, IdsOfRowsAreTheCommandsOwn) {
  auto connection = connect(url());
  connection->run("CREATE TABLE log (id INTEGER PRIMARY KEY, what TEXT)");
  connection->run("INSERT INTO log VALUES (1000, 'first')");
  connection->run("CREATE TABLE t (id INTEGER PRIMARY KEY, i INTEGER UNIQUE)");
  connection->run(
      "CREATE TRIGGER inserted AFTER INSERT ON t BEGIN INSERT INTO log (what) VALUES ('i'); END");
  EXPECT_EQ(connection->run("INSERT INTO t (i) VALUES (5)").last_insert_id, 1);
  EXPECT_EQ(connection->run("INSERT INTO t (i) VALUES (5) ON CONFLICT (i) DO UPDATE SET i = 4")
                .last_insert_id,
            std::nullopt);
  connection->run(
      "CREATE TRIGGER updated AFTER UPDATE ON t BEGIN INSERT INTO log (what) VALUES ('u'); END");
  EXPECT_EQ(connection->run("UPDATE t SET i = 6").last_insert_id, std::nullopt);
  EXPECT_EQ(connection->run("INSERT OR IGNORE INTO t (i) VALUES (6)").last_insert_id, std::nullopt);
  EXPECT_EQ(connection->run("REPLACE INTO t (i) VALUES (7)").last_insert_id, 2);
  EXPECT_EQ(ask_integer(*connection, "SELECT last_insert_rowid()"), 2);
  const Result returned = ask(*connection, "INSERT INTO t (i) VALUES (8), (9) RETURNING i");
  EXPECT_EQ(returned.rows.size(), 2u);
  EXPECT_EQ(returned.effect.affected_rows, 2u);
  EXPECT_EQ(returned.effect.last_insert_id, 4);
}

MAIN_TEST_F(Sqlite, ATransactionThatItEndsByItself) {
  auto connection = connect(url());
  connection->run("CREATE TABLE t (i INTEGER UNIQUE)");
  connection->run("INSERT INTO t VALUES (1)");
  connection->begin();
  connection->run("INSERT INTO t VALUES (2)");
  EXPECT_EQ(sqlstate_of([&] { connection->run("INSERT OR ROLLBACK INTO t VALUES (1)"); }), "23505");
  EXPECT_EQ(connection->transaction(), db::TransactionState::None);
  EXPECT_EQ(ask_integer(*connection, "SELECT count(*) FROM t"), 1);
  connection->run("SAVEPOINT outermost");
  EXPECT_EQ(connection->transaction(), db::TransactionState::Open);
  connection->run("RELEASE outermost");
  EXPECT_EQ(connection->transaction(), db::TransactionState::None);
}

MAIN_TEST_F(Sqlite, ResetTakesBackWhateverWasSet) {
  auto connection = connect(url());
  connection->run("CREATE TABLE t (i INTEGER)");
  const std::int64_t cache = ask_integer(*connection, "PRAGMA cache_size");
  const std::int64_t keys = ask_integer(*connection, "PRAGMA foreign_keys");
  connection->run("PRAGMA cache_size = 77");
  connection->run("PRAGMA query_only = 1");
  connection->set_attribute("foreign_keys", keys == 0 ? "on" : "off");
  connection->run(fmt::format("ATTACH '{}/other.db' AS other", folder_));
  const auto prepared = connection->prepare("SELECT count(*) FROM t");
  connection->reset_session();
  EXPECT_EQ(ask_integer(*connection, "PRAGMA cache_size"), cache);
  EXPECT_EQ(ask_integer(*connection, "PRAGMA foreign_keys"), keys);
  EXPECT_EQ(connection->run("INSERT INTO t VALUES (1)").affected_rows, 1u);
  EXPECT_EQ(sqlstate_of([&] { ask(*connection, "SELECT * FROM other.t"); }), "42P01");
  const std::string stale = sqlstate_of([&] { ask(*prepared); });
  EXPECT_TRUE(connection->is_stale_plan(stale)) << stale;
}

MAIN_TEST_F(Sqlite, AnAttributeThatItDoesNotKnow) {
  auto connection = connect(url());
  EXPECT_EQ(sqlstate_of([&] { connection->set_attribute("cache_sice", "1"); }), "42704");
  connection->set_attribute("CACHE_SIZE", "-4000");
  EXPECT_EQ(ask_integer(*connection, "PRAGMA cache_size"), -4000);
  connection->set_attribute("journal_mode", "wal");
  EXPECT_EQ(ask(*connection, "PRAGMA journal_mode").value(), Value(std::string("wal")));
}

TEST_F(Sqlite, AFileThatHasGoneIsNoticed) {
  in_runtime([&] {
    auto connection = connect(url());
    connection->run("CREATE TABLE t (i INTEGER)");
    EXPECT_TRUE(connection->looks_alive());
    std::filesystem::remove(path());
    EXPECT_FALSE(connection->looks_alive());
    EXPECT_THROW(connection->reset_session(), db::ConnectionLost);
    EXPECT_TRUE(connection->is_broken());
    EXPECT_FALSE(connection->looks_alive());
    EXPECT_EQ(connection->transaction(), db::TransactionState::Unknown);
    EXPECT_THROW(connection->ping(), db::ConnectionLost);
    EXPECT_THROW((void)connection->prepare("SELECT 1"), db::ConnectionLost);
  });
  EXPECT_FALSE(std::filesystem::exists(path()));
}

MAIN_TEST_F(Sqlite, AWriteThatIsInterruptedTakesItsTransactionAlong) {
  auto connection = connect(url());
  connection->run("CREATE TABLE t (i INTEGER)");
  connection->begin();
  connection->run("INSERT INTO t VALUES (1)");
  auto writer = spawn("writer", [&] {
    connection->run(
        "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT 1 FROM n WHERE i < 0");
  });
  delay(20ms);
  writer->cancel();
  EXPECT_THROW(await(writer), Cancellation);
  connection->interrupt();
  EXPECT_FALSE(connection->is_broken());
  EXPECT_EQ(connection->transaction(), db::TransactionState::None);
  EXPECT_EQ(ask_integer(*connection, "SELECT count(*) FROM t"), 0);
}

}  // namespace
}  // namespace fermata::database_test
