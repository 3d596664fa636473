// SPDX-License-Identifier: Apache-2.0

// What is done with connections that nobody uses, and what all of them are made of.

#include <gtest/gtest.h>

#include <memory>
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

class DatabaseUpkeep : public RuntimeFixture {
 protected:
  /// Uses `count` connections at a time.
  static void use(db::Database& database, int count) {
    std::vector<Coroutine<>> users;
    for (int i = 0; i < count; ++i) {
      users.push_back(spawn([&] { database.execute("SELECT"); }));
    }
    for (const auto& user : users) await(user);
  }
  std::string refusal(db::DatabaseOptions options) {
    return error_of([&] { scripted_database(script, std::move(options)); });
  }

  std::shared_ptr<Script> script = std::make_shared<Script>();
};

MAIN_TEST_F(DatabaseUpkeep, IdleConnectionsAreClosedButForTheLeastNumber) {
  script->latency = 1ms;
  auto database = scripted_database(script, {.min = 1, .max = 4, .idle_limit = 10s});
  use(database, 4);
  EXPECT_EQ(database.metrics().idle, 4u);
  delay(5s);
  database.execute("SELECT");
  delay(8s);
  EXPECT_GE(database.metrics().idle, 1u);
  delay(30s);
  EXPECT_EQ(database.metrics().idle, 1u);
}

MAIN_TEST_F(DatabaseUpkeep, OldConnectionsAreClosedHoweverBusyTheyAre) {
  auto database = scripted_database(script, {.age_limit = 10s});
  for (int i = 0; i < 30; ++i) {
    database.execute("SELECT");
    delay(1s);
  }
  EXPECT_GE(script->connections, 3);
  EXPECT_LE(script->alive.size(), 1u);
}

MAIN_TEST_F(DatabaseUpkeep, AConnectionInUseIsLeftAlone) {
  auto database = scripted_database(script, {.idle_limit = 1s, .age_limit = 1s});
  auto transaction = database.transaction();
  delay(10s);
  database.execute("SELECT");
  transaction.commit();
  EXPECT_EQ(script->connections, 1);
}

MAIN_TEST_F(DatabaseUpkeep, TheHealthCheckReplacesWhatDoesNotAnswer) {
  auto database = scripted_database(script, {.min = 1, .health_check_interval = 1s});
  database.execute("SELECT");
  delay(1500ms);  // The first look is at once: the least number is made.
  EXPECT_EQ(script->journal, (Strings{"1 SELECT", "1 ping", "1 ping"}));
  script->gone = {1};
  delay(1s);
  EXPECT_EQ(database.metrics().idle, 1u);
  EXPECT_EQ(script->alive, std::set<int>{2});
}

MAIN_TEST_F(DatabaseUpkeep, AttributesReachEveryConnection) {
  FERMATA_CHECKS("DB-18");
  script->latency = 1ms;
  auto database = scripted_database(script, {.max = 2, .attributes = {{"a", "1"}}});
  use(database, 2);
  script->journal.clear();
  database.begin();
  database.set_attribute("b", "2");
  database.commit();
  use(database, 2);
  database.execute("SET x = 1");
  database.reset_session();
  database.execute("SELECT");
  EXPECT_EQ(script->journal,
            (Strings{"1 BEGIN", "1 set b=2", "1 COMMIT", "2 set a=1", "1 set a=1", "2 set b=2",
                     "1 set b=2", "2 SELECT", "1 SELECT", "2 SET x = 1", "2 reset", "1 SELECT"}));
}

MAIN_TEST_F(DatabaseUpkeep, ADriverMayChangeItsCopyOfTheCredentials) {
  FERMATA_CHECKS("DB-19");
  auto database = scripted_database(script, {.max = 2});
  Strings passwords;
  script->on_connect = [&] { passwords.push_back(script->last_target.password); };
  for (int i = 0; i < 3; ++i) {
    script->gone = {i};
    database.execute("SELECT");
  }
  EXPECT_EQ(script->last_target.user, "ann");
  EXPECT_EQ(database.text(), "scripted://ann@/shop");
}

MAIN_TEST_F(DatabaseUpkeep, AFailedConnectIsTheCallersAndTheNextOneTriesAgain) {
  auto database = scripted_database(script, {.max = 1});
  script->on_connect = [] { throw db::ConnectError("scripted", "28P01", "wrong password"); };
  EXPECT_EQ(error_of([&] { database.execute("SELECT"); }),
            "database \"scripted\": SQLSTATE 28P01: wrong password");
  script->on_connect = nullptr;
  database.execute("SELECT");
}

MAIN_TEST_F(DatabaseUpkeep, WhoeverWaitsTooLongIsTold) {
  auto database = scripted_database(script, {.max = 1, .acquire_timeout = 1s});
  database.begin();
  const auto other = spawn([&] { database.execute("SELECT"); });
  EXPECT_THROW(await(other), Timeout);
  database.rollback();
  EXPECT_EQ(database.metrics().idle, 1u);
  EXPECT_EQ(database.metrics().waiting, 0u);
}

MAIN_TEST_F(DatabaseUpkeep, OptionsThatMakeNoSenseAreRefused) {
  FERMATA_CHECKS("DB-16");
  const std::string start = "database \"scripted://ann@/shop\": ";
  EXPECT_EQ(refusal({.persistent = true}),
            start + "persistent connections cannot be used with a pool");
  EXPECT_EQ(refusal({.min = 3, .max = 2}), start + "min 3 is more than max 2: expected no more");
  EXPECT_EQ(refusal({.min = -1}), start + "min -1: expected 0 or more");
  EXPECT_EQ(refusal({.max = 0}), start + "max 0: expected 1 or more");
  EXPECT_EQ(refusal({.acquire_timeout = -1s}),
            start + "negative acquire_timeout: expected 0 or more");
  EXPECT_EQ(refusal({.idle_limit = -1s}), start + "negative limit or interval: expected 0 or more");
  EXPECT_EQ(refusal({.cleanup_limit = 0s}), start + "cleanup_limit: expected more than 0");
  EXPECT_TRUE(script->alive.empty());
}

}  // namespace
}  // namespace fermata::test
