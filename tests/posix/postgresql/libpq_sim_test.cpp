// SPDX-License-Identifier: Apache-2.0

// Debian's libpq, unchanged, as Fermata's driver uses it, in a simulated world without faults.

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fermata/core/scope.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/db/database.hpp"
#include "fermata/db/errors.hpp"
#include "fermata/db/postgresql/driver.hpp"
#include "fermata/sim/db/server.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;

constexpr const char* kUrl =
    "postgresql://ann:secret@db:5432/shop?sslmode=disable&gssencmode=disable";

class Libpq : public test::WorldFixture {
 protected:
  /// Runs `body` on a machine of its own, with a database on another one.
  void run(const std::function<void(db::Database&)>& body, db::DatabaseOptions options = {},
           const std::string& url = kUrl) {
    world_->service("db", [this] { sim::run_database(shop_, {"0.0.0.0", 5432}); });
    world_->node("client", [&] {
      delay(1ms);
      db::Database database(db::postgresql::make_driver(), db::parse_url(url), options);
      body(database);
    });
    WorldFixture::run();
  }

  sim::Database shop_{"shop"};
};

/// The SQLSTATE of the DatabaseError that `act` ends with.
std::string state_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const db::DatabaseError& error) {
    return error.sqlstate();
  }
  return "no error";
}

TEST_F(Libpq, AsksWithAndWithoutParameters) {
  run([](db::Database& database) {
    database.execute("CREATE TABLE item (id BIGINT PRIMARY KEY, name TEXT)");
    EXPECT_EQ(database.execute("INSERT INTO item VALUES ($1, $2)", 7, "pen").affected_rows, 1u);
    EXPECT_EQ(database.query_one<std::string>("SELECT name FROM item WHERE id = $1", 7), "pen");
    EXPECT_EQ(database.query_one<std::int64_t>("SELECT count(*) FROM item"), 1);
  });
}

TEST_F(Libpq, ReadsEveryKindOfValue) {
  run([](db::Database& database) {
    database.execute(
        "CREATE TABLE kind (t BOOLEAN, i BIGINT, d DOUBLE PRECISION, s TEXT, b BYTEA)");
    const db::Bytes bytes = {std::byte{0}, std::byte{92}, std::byte{255}};
    database.execute("INSERT INTO kind VALUES ($1, $2, $3, $4, $5)", true, -7, 0.5, "it's", bytes);
    const db::Values row = database.query_one("SELECT t, i, d, s, b FROM kind");
    EXPECT_EQ(row, (db::Values{true, std::int64_t{-7}, 0.5, std::string("it's"), bytes}));
    database.execute("UPDATE kind SET s = $1", std::optional<std::string>());
    EXPECT_EQ(database.query_one("SELECT s FROM kind"), db::Values{db::Null()});
  });
}

TEST_F(Libpq, TellsErrorsByTheirState) {
  run([](db::Database& database) {
    database.execute("CREATE TABLE item (id BIGINT PRIMARY KEY)");
    const auto say = [&](std::string sql) { return state_of([&] { database.execute(sql); }); };
    EXPECT_EQ(say("INSERT INTO item VALUES (1)"), "no error");
    EXPECT_EQ(say("INSERT INTO item VALUES (1)"), "23505");
    EXPECT_EQ(say("INSERT INTO item VALUES ('one')"), "42804");
    EXPECT_EQ(say("SELECT x FROM item"), "42703");
    EXPECT_EQ(say("SELECT 1 FROM nothing"), "42P01");
    EXPECT_EQ(say("SELEC 1"), "42601");
    EXPECT_EQ(say("COPY item FROM STDIN"), "0A000");
    EXPECT_EQ(state_of([&] { database.execute("DELETE FROM item WHERE id = $1", "one"); }),
              "22P02");
    EXPECT_EQ(say(""), "no error");
  });
}

TEST_F(Libpq, FollowsTransactions) {
  run([](db::Database& database) {
    database.execute("CREATE TABLE item (id BIGINT PRIMARY KEY)");
    auto whole = database.transaction();
    database.execute("INSERT INTO item VALUES (1)");
    auto part = whole.savepoint();
    EXPECT_EQ(state_of([&] { database.execute("INSERT INTO item VALUES (1)"); }), "23505");
    EXPECT_EQ(state_of([&] { database.execute("INSERT INTO item VALUES (2)"); }), "25P02");
    part.roll_back();
    database.execute("INSERT INTO item VALUES (2)");
    await(spawn([&] {
      EXPECT_EQ(database.query_one<int>("SELECT count(*) FROM item"), 0);
      EXPECT_EQ(state_of([&] { database.execute("INSERT INTO item VALUES (2)"); }), "40001");
    }));
    whole.commit();
    EXPECT_EQ(database.query_one<int>("SELECT count(*) FROM item"), 2);
  });
}

TEST_F(Libpq, StreamsRowsAndKeepsCommandsPrepared) {
  run([](db::Database& database) {
    database.execute("CREATE TABLE item (id BIGINT PRIMARY KEY, name TEXT)");
    auto insert = database.prepare("INSERT INTO item VALUES ($1, $2)");
    for (int id = 0; id < 300; ++id) insert.execute(id, std::string(500, 'x'));
    std::int64_t next = 0;
    auto rows = database.stream<std::tuple<std::int64_t, std::string>>("SELECT * FROM item");
    while (const auto row = rows.next()) {
      EXPECT_EQ(std::get<0>(*row), next++);
      EXPECT_EQ(std::get<1>(*row).size(), 500u);
    }
    EXPECT_EQ(next, 300);
  });
}

TEST_F(Libpq, ResetsASessionForTheNextCoroutine) {
  run(
      [](db::Database& database) {
        await(spawn([&] { database.execute("CREATE TEMPORARY TABLE mine (id BIGINT)"); }));
        EXPECT_EQ(state_of([&] { database.execute("SELECT id FROM mine"); }), "42P01");
        EXPECT_EQ(database.query_one<std::string>("SHOW search_path"), "shop");
      },
      {.max = 1, .attributes = {{"search_path", "shop"}}});
}

TEST_F(Libpq, StopsACommandWhoseCoroutineIsCancelled) {
  run(
      [](db::Database& database) {
        const Instant begun = now();
        Scope scope("impatient");
        scope.spawn("sleeper", [&] { database.execute("SELECT pg_sleep(1000)"); });
        delay(2s);
        scope.cancel();
        scope.await_after_cancellation();
        EXPECT_EQ(database.query_one<int>("SELECT 1"), 1);
        EXPECT_LT(now() - begun, 4s);
        EXPECT_EQ(database.metrics().connected, 1u);
      },
      {.max = 1});
}

TEST_F(Libpq, IsInNoTransactionWhenACommandOutsideOfOneIsCancelled) {
  run([](db::Database& database) {
    bool asked = false;
    Scope scope("impatient");
    scope.spawn("sleeper", [&] {
      try {
        database.execute("SELECT pg_sleep(1000)");
      } catch (const Cancellation&) {
        asked = true;
        EXPECT_FALSE(database.in_transaction());
        throw;
      }
    });
    delay(2s);
    scope.cancel();
    scope.await_after_cancellation();
    EXPECT_TRUE(asked);
  });
}

TEST_F(Libpq, IsTurnedAwayWithTheStateOfTheReason) {
  shop_.add_user("ann", "other");
  run([](db::Database& database) {
    EXPECT_EQ(state_of([&] { database.execute("SELECT 1"); }), "28P01");
  });
}

TEST_F(Libpq, GivesThePasswordThatIsAskedFor) {
  shop_.add_user("ann", "secret");
  run([](db::Database& database) { EXPECT_EQ(database.query_one<int>("SELECT 1"), 1); });
}

TEST_F(Libpq, IsToldThatThereIsNoSuchDatabase) {
  run(
      [](db::Database& database) {
        EXPECT_EQ(state_of([&] { database.execute("SELECT 1"); }), "3D000");
      },
      {}, "postgresql://ann:secret@db:5432/mine?sslmode=disable&gssencmode=disable");
}

}  // namespace
}  // namespace fermata
