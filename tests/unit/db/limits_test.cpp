// SPDX-License-Identifier: Apache-2.0

// Commands of a database with WaitOptions, and transactions that have ended.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fermata/db/database.hpp"
#include "fermata/sync/future.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/events.hpp"
#include "tests/support/runtime_fixture.hpp"
#include "tests/support/scripted_database.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;
using Strings = std::vector<std::string>;
using Row = std::tuple<int, std::string, int>;

class DatabaseLimits : public RuntimeFixture {
 protected:
  std::shared_ptr<Script> script = std::make_shared<Script>();
  Strings& journal = script->journal;
};

MAIN_TEST_F(DatabaseLimits, StopACommandAtTheServer) {
  auto database = scripted_database(script);
  database.execute("connects");
  script->latency = 10ms;
  const Instant begin = now();
  EXPECT_THROW(static_cast<void>(database.query<Row>({.timeout = 4ms}, "SELECT $1", 5)), Timeout);
  EXPECT_GE(now() - begin, 4ms);
  EXPECT_EQ(database.query_one<Row>({.timeout = 1s}, "SELECT $1", 5), (Row{1, "SELECT $1", 1}))
      << "the connection is in order";
  EXPECT_EQ(journal, (Strings{"1 connects", "1 SELECT $1", "1 interrupt", "1 SELECT $1"}));
}

MAIN_TEST_F(DatabaseLimits, HoldForEveryKindOfCommand) {
  script->latency = 10ms;
  auto database = scripted_database(script);
  const WaitOptions limit{.timeout = 4ms};
  EXPECT_THROW(database.execute(limit, "INSERT"), Timeout);
  EXPECT_THROW(static_cast<void>(database.query_one<Row>(limit, "SELECT")), Timeout);
  EXPECT_THROW(static_cast<void>(database.stream<Row>(limit, "SELECT")), Timeout);
  EXPECT_THROW(static_cast<void>(database.prepare("SELECT", limit)), Timeout);
  EXPECT_THROW(static_cast<void>(database.transaction(limit)), Timeout);
  delay(100ms);
  auto statement = database.prepare("SELECT");
  EXPECT_THROW(static_cast<void>(statement.query<Row>(limit)), Timeout);
  EXPECT_EQ(database.metrics().active, 1u) << "the statement's";
}

MAIN_TEST_F(DatabaseLimits, TakeATokenThatHasFiredFirst) {
  auto database = scripted_database(script);
  Promise<> stop;
  stop.complete();
  const Future<> stopped = stop.future();
  EXPECT_THROW(database.execute({.token = &stopped.event()}, "INSERT"), OperationCancelled);
  EXPECT_EQ(journal, Strings());
  EXPECT_THROW(database.execute({.timeout = -1ns}, "INSERT"), UsageError);
}

MAIN_TEST_F(DatabaseLimits, ATransactionThatHasEndedIsRefused) {
  auto database = scripted_database(script);
  auto transaction = database.transaction();
  transaction.commit();
  const std::string ended = ": the transaction has ended: expected an open one";
  EXPECT_EQ(error_of([&] { transaction.commit(); }), "commit" + ended);
  EXPECT_EQ(error_of([&] { transaction.rollback(); }), "rollback" + ended);
  EXPECT_EQ(error_of([&] { static_cast<void>(transaction.savepoint()); }), "savepoint" + ended);
  auto second = database.transaction();
  auto savepoint = second.savepoint();
  savepoint.release();
  EXPECT_EQ(error_of([&] { savepoint.roll_back(); }),
            "roll_back: the savepoint has ended: expected an open one");
  second.rollback();
}

}  // namespace
}  // namespace fermata::test
