// SPDX-License-Identifier: Apache-2.0

// Clients that move money between accounts of a simulated database, over a network with every
// fault, on a server that crashes: each call ends with an answer or a typed error, and in the end
// there is as much money as before. A transfer has a number, which it leaves in a table: whoever
// does not know whether his commit took effect looks there.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/db/errors.hpp"
#include "fermata/db/target.hpp"
#include "fermata/sim/db/driver.hpp"
#include "fermata/sim/db/server.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using db::Cell;
using db::Connection;
using db::Fetch;

constexpr std::int64_t kAccounts = 4;
constexpr std::int64_t kCents = 1000;

/// One client's connection, made anew when it is lost.
class Teller {
 public:
  /// Runs `work` in a transaction again and again, until it is certain that it took effect once;
  /// `is_done` asks the database for that. Cancellations pass.
  void transact(const std::function<void(Connection&)>& work,
                const std::function<bool(Connection&)>& is_done) {
    for (bool certain = true;; certain = false) {
      try {
        Connection& connection = ready();
        if (!certain && is_done(connection)) return;
        connection.begin();
        work(connection);
        connection.commit();
        return;
      } catch (const db::QueryError& error) {
        note(error);
      } catch (const db::ConnectionLost& error) {
        note(error);
        connection_.reset();
      } catch (const db::ConnectError& error) {
        note(error);
        connection_.reset();
      }
      delay(1ms + random(50) * 1ms);
    }
  }

  /// After a call was interrupted.
  void put_in_order() {
    if (connection_ == nullptr) return;
    protect([&] { connection_->interrupt(); });
    if (connection_->is_broken()) connection_.reset();
  }

  [[nodiscard]] const std::map<std::string, int>& errors() const { return errors_; }

 private:
  Connection& ready() {
    if (connection_ == nullptr) {
      connection_ = make_database_driver()->connect(db::parse_url("sim://db:5000/bank"));
    }
    if (connection_->transaction() != db::TransactionState::None) connection_->rollback();
    return *connection_;
  }

  void note(const db::DatabaseError& error) { ++errors_[error.sqlstate()]; }

  std::unique_ptr<Connection> connection_;
  std::map<std::string, int> errors_;
};

std::int64_t number(Connection& connection, std::string_view sql,
                    std::initializer_list<std::int64_t> parameters) {
  std::vector<Cell> cells;
  for (const std::int64_t each : parameters) cells.emplace_back(each);
  const auto answer = connection.execute(sql, cells, Fetch::ByRows);
  std::vector<Cell> row;
  std::int64_t found = 0;
  while (answer->next(row)) found = std::get<std::int64_t>(row.at(0));
  return found;
}

void move_money(Connection& connection, std::int64_t transfer) {
  const auto from = 1 + static_cast<std::int64_t>(random(kAccounts));
  const auto to = 1 + static_cast<std::int64_t>(random(kAccounts));
  const auto cents = 1 + static_cast<std::int64_t>(random(20));
  number(connection, "INSERT INTO transfer VALUES ($1)", {transfer});
  const std::string_view read = "SELECT cents FROM account WHERE id = $1";
  const std::string_view write = "UPDATE account SET cents = $2 WHERE id = $1";
  const std::int64_t source = number(connection, read, {from});
  number(connection, write, {from, source - cents});
  const std::int64_t sink = number(connection, read, {to});
  number(connection, write, {to, sink + cents});
}

bool is_known(Connection& connection, std::int64_t transfer) {
  return number(connection, "SELECT count(*) FROM transfer WHERE id = $1", {transfer}) == 1;
}

class LedgerTest : public test::WorldFixture {
 protected:
  /// A database with accounts in it.
  static void fill(Database& database) {
    sql::Session session(database);
    session.execute("CREATE TABLE account (id PRIMARY KEY, cents)");
    session.execute("CREATE TABLE transfer (id PRIMARY KEY)");
    for (std::int64_t id = 1; id <= kAccounts; ++id) {
      const std::vector<db::Value> row{id, kCents};
      session.execute("INSERT INTO account VALUES ($1, $2)", row);
    }
  }

  static std::int64_t look(Database& database, std::string_view sql) {
    sql::Session session(database);
    return std::get<std::int64_t>(session.execute(sql).rows.at(0).at(0));
  }

  /// Runs clients that make `transfers` each; every other one is interrupted now and then.
  void run_bank(std::uint64_t seed, FaultSet faults, int clients, int transfers) {
    begin(seed, faults);
    Database database("bank");
    fill(database);
    Node& server = world_->service("db", [&] { run_database(database, {"0.0.0.0", 5000}); });
    server.may_crash().may_pause();
    int done = 0;
    world_->at(1min, [&, all = clients * transfers] {
      world_->heal();
      if (done < all && !server.is_up()) server.restart();
    });
    for (int client = 0; client < clients; ++client) {
      world_->node(fmt::format("client {}", client), [&, client] {
        Teller teller;
        for (int i = 0; i < transfers; ++i) {
          const std::int64_t transfer = client * 100 + i;
          transfer_for_certain(teller, transfer, client % 2 == 1);
          ++done;
        }
        for (const auto& [sqlstate, count] : teller.errors()) errors_[sqlstate] += count;
      });
    }
    run();
    EXPECT_EQ(done, clients * transfers);
    EXPECT_EQ(look(database, "SELECT count(*) FROM transfer"), done);
    EXPECT_EQ(look(database, "SELECT sum(cents) FROM account"), kAccounts * kCents);
    EXPECT_EQ(database.session_count(), 0u);
    if (HasFailure()) {
      ADD_FAILURE() << "with seed " << seed << " and " << world_->faults();
    }
  }

  static void transfer_for_certain(Teller& teller, std::int64_t transfer, bool interrupted) {
    const auto work = [&](Connection& connection) { move_money(connection, transfer); };
    const auto is_done = [&](Connection& connection) { return is_known(connection, transfer); };
    bool asks_first = false;
    const auto attempt = [&] {
      teller.transact(
          [&](Connection& connection) {
            if (asks_first && is_done(connection)) return;
            work(connection);
          },
          is_done);
    };
    while (interrupted && random(3) != 0) {
      auto caller = spawn("teller", attempt);
      delay(random(20) * 1ms);
      caller->cancel();
      try {
        return await(caller);
      } catch (const Cancellation&) {
        teller.put_in_order();
        asks_first = true;
      }
    }
    attempt();
  }

  std::map<std::string, int> errors_;
};

TEST_F(LedgerTest, BalancesWithoutFaults) {
  for (std::uint64_t seed = 1; seed <= 30 && !HasFailure(); ++seed) {
    run_bank(seed, FaultSet::none(), 3, 4);
  }
  EXPECT_GT(errors_["40001"], 0);
}

TEST_F(LedgerTest, BalancesWithEveryFault) {
  for (std::uint64_t seed = 1; seed <= 300 && !HasFailure(); ++seed) {
    run_bank(seed, FaultSet::all(), 3, 4);
  }
  for (const char* expected : {"08001", "08006", "40001"}) EXPECT_GT(errors_[expected], 0);
}

}  // namespace
}  // namespace fermata::sim
