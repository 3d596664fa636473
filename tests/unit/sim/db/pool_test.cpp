// SPDX-License-Identifier: Apache-2.0

// Coroutines that share a db::Database on a simulated one, over a network with every fault, on a
// server that crashes; some of them are cancelled at any moment. Nobody gets another one's answer,
// nobody finds another one's session, and no money is lost.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/db/database.hpp"
#include "fermata/sim/db/driver.hpp"
#include "fermata/sim/db/server.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kPurses = 4;
constexpr std::int64_t kPurse = 1000;

/// Everything that one coroutine does with the database once, for instance to be cancelled in it.
void use(db::Database& bank, std::int64_t number) {
  EXPECT_EQ(bank.query_one<std::int64_t>("SELECT $1", number), number);
  if (random(4) == 0) {
    try {
      ADD_FAILURE() << "somebody else's: " << bank.query_one<std::string>("SHOW mine");
    } catch (const db::QueryError& error) {
      EXPECT_EQ(error.sqlstate(), "42704");
    }
    bank.execute(fmt::format("SET mine = {}", number));
    EXPECT_EQ(bank.query_one<std::string>("SHOW mine"), std::to_string(number));
    bank.reset_session();
  }
  if (random(4) == 0) {
    std::int64_t sum = 0;
    auto purses = bank.stream<std::int64_t>("SELECT cents FROM purse");
    while (const std::optional<std::int64_t> cents = purses.next()) sum += *cents;
    EXPECT_EQ(sum, kPurses * kPurse);
  }
  const auto from = 1 + static_cast<std::int64_t>(random(kPurses));
  const auto to = 1 + static_cast<std::int64_t>(random(kPurses));
  const auto cents = 1 + static_cast<std::int64_t>(random(20));
  bank.in_one_transaction([&] {
    if (bank.query_one<std::int64_t>("SELECT count(*) FROM done WHERE id = $1", number) > 0) return;
    bank.execute("INSERT INTO done VALUES ($1)", number);
    auto read = bank.prepare("SELECT cents FROM purse WHERE id = $1");
    const auto source = read.query_one<std::int64_t>(from);
    bank.execute("UPDATE purse SET cents = $1 WHERE id = $2", source - cents, from);
    const auto sink = read.query_one<std::int64_t>(to);
    bank.execute("UPDATE purse SET cents = $1 WHERE id = $2", sink + cents, to);
  });
}

/// Until it is certain that it took effect.
void use_for_certain(db::Database& bank, std::int64_t number) {
  while (true) {
    auto attempt = spawn("attempt", [&bank, number] { use(bank, number); });
    try {
      if (random(3) == 0) {
        delay(random(30) * 1ms);
        attempt.cancel();
      }
      return await(attempt);
    } catch (const Cancellation&) {
    } catch (const db::QueryError& error) {
      EXPECT_TRUE(error.sqlstate() == "40001" || error.sqlstate() == "23505") << error.what();
    } catch (const db::ConnectionLost&) {
    } catch (const db::ConnectError&) {
    } catch (const Timeout&) {
    }
    delay(1ms + random(50) * 1ms);
  }
}

class DatabasePoolTest : public test::WorldFixture {
 protected:
  void run_bank(std::uint64_t seed, FaultSet faults) {
    begin(seed, faults);
    Database database("bank");
    {
      sql::Session session(database);
      session.execute("CREATE TABLE purse (id PRIMARY KEY, cents)");
      session.execute("CREATE TABLE done (id PRIMARY KEY)");
      for (std::int64_t id = 1; id <= kPurses; ++id) {
        const std::vector<db::Value> row{id, kPurse};
        session.execute("INSERT INTO purse VALUES ($1, $2)", row);
      }
    }
    Node& server = world_->service("db", [&] { run_database(database, {"0.0.0.0", 5000}); });
    server.may_crash().may_pause();
    bool ended = false;
    world_->at(1min, [&] {
      world_->heal();
      if (!ended && !server.is_up()) server.restart();
    });
    std::int64_t done = 0;
    world_->node("client", [&] {
      db::Database bank(make_database_driver(), db::parse_url("sim://db:5000/bank"),
                        {.max = 2, .acquire_timeout = 30s, .statement_cache = 4});
      std::vector<Coroutine<>> users;
      for (std::int64_t user = 0; user < 4; ++user) {
        users.push_back(spawn("user", [&, user] {
          for (std::int64_t i = 0; i < 3; ++i) {
            use_for_certain(bank, user * 100 + i);
            ++done;
          }
        }));
      }
      for (Coroutine<>& user : users) await(user);
      bank.close();
      ended = true;
    });
    run();
    sql::Session session(database);
    const auto look = [&](const char* sql) {
      return std::get<std::int64_t>(session.execute(sql).rows.at(0).at(0));
    };
    EXPECT_EQ(done, 12);
    EXPECT_EQ(look("SELECT count(*) FROM done"), done);
    EXPECT_EQ(look("SELECT sum(cents) FROM purse"), kPurses * kPurse);
    EXPECT_EQ(database.session_count(), 1u);
    EXPECT_FALSE(HasFailure()) << "with seed " << seed << " and " << world_->faults();
  }
};

TEST_F(DatabasePoolTest, SharesWithoutFaults) {
  for (std::uint64_t seed = 1; seed <= 50 && !HasFailure(); ++seed) {
    run_bank(seed, FaultSet::none());
  }
}

TEST_F(DatabasePoolTest, SharesWithEveryFault) {
  for (std::uint64_t seed = 1; seed <= 200 && !HasFailure(); ++seed) {
    run_bank(seed, FaultSet::all());
  }
}

}  // namespace
}  // namespace fermata::sim
