// SPDX-License-Identifier: Apache-2.0

// Coroutines that share one Database, the same on every database.

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/db/database.hpp"
#include "fermata/sync/await.hpp"
#include "tests/database/driver_fixture.hpp"
#include "tests/support/checks.hpp"

namespace fermata::database_test {
namespace {

using namespace std::chrono_literals;
using db::Database;

struct Item {
  std::int64_t id;
  std::optional<std::string> name;
  double price;
};

class SharedDatabase : public ::testing::TestWithParam<std::string> {
 protected:
  /// Runs `body` with a Database of at most `max` connections, and the empty table `shared`.
  void with_database(std::int64_t max, const std::function<void(Database&)>& body) {
    in_runtime([&] {
      auto database = Database::connect(arm_.url, {.max = max});
      database.execute("DROP TABLE IF EXISTS shared");
      database.execute(
          "CREATE TABLE shared (id BIGINT PRIMARY KEY, name TEXT, "
          "price DOUBLE PRECISION)");
      body(database);
      EXPECT_EQ(database.metrics().waiting, 0u);
    });
  }
  static void add(Database& database, std::int64_t id, const char* name, double price) {
    database.execute("INSERT INTO shared (id, name, price) VALUES ($1, $2, $3)", id, name, price);
  }
  static std::int64_t count(Database& database) {
    return database.query_one<std::int64_t>("SELECT count(*) FROM shared");
  }
  /// Until nobody has a connection.
  static void settle(Database& database) {
    while (database.metrics().active > 0) delay(1ms);
  }

  const Arm& arm_ = arm_named(GetParam());
};

TEST_P(SharedDatabase, RowsBecomeWhatTheProgramAsksFor) {
  with_database(1, [](Database& database) {
    add(database, 1, "pen", 1.5);
    database.execute("INSERT INTO shared (id, price) VALUES ($1, $2)", 2, 0.25);
    const auto items = database.query<Item>("SELECT id, name, price FROM shared ORDER BY id");
    ASSERT_EQ(items.size(), 2u);
    EXPECT_EQ(items[0].id, 1);
    EXPECT_EQ(items[0].name, "pen");
    EXPECT_EQ(items[0].price, 1.5);
    EXPECT_EQ(items[1].name, std::nullopt);
    using Pair = std::pair<int, std::string>;
    EXPECT_EQ(database.query_one<Pair>("SELECT id, name FROM shared WHERE id = $1", 1),
              (Pair{1, "pen"}));
    EXPECT_THROW(static_cast<void>(database.query<Pair>("SELECT id, name FROM shared")),
                 db::ColumnError);
    EXPECT_THROW(static_cast<void>(database.query<Pair>("SELECT id FROM shared")), db::ColumnError);
    EXPECT_THROW(static_cast<void>(database.query_one<int>("SELECT id FROM shared")),
                 db::ColumnError);
    EXPECT_EQ(database.execute("UPDATE shared SET price = price + $1", 1.0).affected_rows, 2u);
  });
}

TEST_P(SharedDatabase, TransfersAtTheSameTimeLoseNothing) {
  FERMATA_CHECKS("DB-03", "DB-04", "DB-15");
  constexpr int kWorkers = 6;
  with_database(3, [](Database& database) {
    add(database, 1, "a", 100);
    add(database, 2, "b", 100);
    const auto transfer = [&](double amount) {
      for (int attempt = 0;; ++attempt) {
        try {
          return database.in_one_transaction([&] {
            database.execute("UPDATE shared SET price = price - $1 WHERE id = 1", amount);
            database.execute("UPDATE shared SET price = price + $1 WHERE id = 2", amount);
          });
        } catch (const db::QueryError& error) {
          if (attempt == 20) throw;  // Locked or not serialisable: again.
        }
      }
    };
    std::vector<Coroutine<>> workers;
    for (int i = 0; i < kWorkers; ++i) workers.push_back(spawn([&, i] { transfer(1 + i); }));
    for (const auto& worker : workers) await(worker);
    using Pair = std::pair<double, double>;
    EXPECT_EQ(database.query_one<Pair>("SELECT a.price, b.price FROM shared a, shared b WHERE "
                                       "a.id = 1 AND b.id = 2"),
              (Pair{79, 121}));
    settle(database);
    EXPECT_LE(database.metrics().idle, 3u);
  });
}

TEST_P(SharedDatabase, WhatACoroutineLeavesOpenIsRolledBack) {
  FERMATA_CHECKS("DB-05", "DB-06");
  with_database(1, [](Database& database) {
    await(spawn([&] {
      database.begin();
      add(database, 1, "lost", 1);
      EXPECT_EQ(count(database), 1);
    }));
    EXPECT_EQ(count(database), 0);
    {
      auto transaction = database.transaction();
      add(database, 1, "lost too", 1);
    }
    EXPECT_EQ(count(database), 0);
    auto transaction = database.transaction();
    add(database, 1, "kept", 1);
    {
      auto undone = transaction.savepoint();
      add(database, 2, "not kept", 1);
    }
    transaction.commit();
    EXPECT_EQ(count(database), 1);
  });
}

TEST_P(SharedDatabase, ACancelledCommandIsStoppedAndHitsNobodyElse) {
  FERMATA_CHECKS("DB-11");
  with_database(1, [this](Database& database) {
    auto endless = spawn([&] { static_cast<void>(database.query(arm_.endless)); });
    delay(50ms);
    endless.cancel();
    EXPECT_THROW(await(endless), Cancellation);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(database.query_one<int>(fmt::format("SELECT {}", 40 + i)), 40 + i);
    }
  });
}

TEST_P(SharedDatabase, ASessionIsNotSeenByTheNextCoroutine) {
  FERMATA_CHECKS("DB-13");
  with_database(1, [](Database& database) {
    await(spawn([&] {
      database.execute("CREATE TEMPORARY TABLE hidden (id BIGINT)");
      database.execute("INSERT INTO hidden (id) VALUES (1)");
      EXPECT_EQ(database.query_one<int>("SELECT count(*) FROM hidden"), 1);
    }));
    EXPECT_THROW(database.execute("SELECT id FROM hidden"), db::QueryError);
  });
}

TEST_P(SharedDatabase, AStatementOutlivesItsCoroutine) {
  FERMATA_CHECKS("DB-08");
  with_database(1, [](Database& database) {
    add(database, 1, "pen", 1);
    std::optional<db::Statement> statement;
    await(spawn(
        [&] { statement.emplace(database.prepare("SELECT name FROM shared WHERE id = $1")); }));
    EXPECT_EQ(statement->query_one<std::string>(1), "pen");
    EXPECT_TRUE(statement->query<std::string>(2).empty());
    statement.reset();
    EXPECT_EQ(count(database), 1);
  });
}

TEST_P(SharedDatabase, RowsAreReadAsTheyCome) {
  with_database(1, [this](Database& database) {
    std::int64_t sum = 0;
    auto stream = database.stream<std::int64_t>(arm_.many_rows);
    while (const auto n = stream.next()) sum += *n;
    EXPECT_EQ(sum, 100'000LL * 100'001 / 2);
    {
      auto dropped = database.stream<std::int64_t>(arm_.many_rows);
      EXPECT_EQ(dropped.next(), 1);
    }
    EXPECT_EQ(count(database), 0);
  });
}

TEST_P(SharedDatabase, WhatIsRefusedLeavesThePoolAsItWas) {
  FERMATA_CHECKS("DB-10", "DB-12");
  with_database(1, [](Database& database) {
    EXPECT_THROW(database.execute("SELECT FROM WHERE"), db::QueryError);
    EXPECT_NE(database.last_error().sqlstate, "00000");
    EXPECT_THROW(database.execute("SELECT $1, $2", 1), db::ParameterError);
    EXPECT_THROW(database.execute("SELECT $1", ~std::uint64_t{0}), db::ParameterError);
    add(database, 1, "only", 1);
    EXPECT_THROW(add(database, 1, "again", 1), db::QueryError);
    database.begin();
    EXPECT_THROW(add(database, 1, "again", 1), db::QueryError);
    EXPECT_TRUE(database.in_transaction());
    database.rollback();
    EXPECT_EQ(count(database), 1);
    EXPECT_EQ(database.last_error().sqlstate, "00000");
    settle(database);
    EXPECT_EQ(database.metrics().broken, 0u);
  });
}

TEST_P(SharedDatabase, ADatabaseThatIsNotThereIsATypedError) {
  if (arm_.nowhere.empty()) return;
  in_runtime([&] {
    auto database = Database::connect(arm_.nowhere);
    EXPECT_THROW(database.execute("SELECT 1"), db::ConnectError);
    EXPECT_THROW(database.execute("SELECT 1"), db::ConnectError);
    EXPECT_EQ(database.metrics().active, 0u);
  });
}

INSTANTIATE_TEST_SUITE_P(Databases, SharedDatabase, ::testing::ValuesIn(arm_names()),
                         [](const auto& arm) { return arm.param; });

}  // namespace
}  // namespace fermata::database_test
