// SPDX-License-Identifier: Apache-2.0

// A pool and a database: what was lent to one who was interrupted can be lent again, and is clean.

#include "fermata/db/database.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fermata/sim/db/driver.hpp"
#include "fermata/sim/db/server.hpp"
#include "properties/sweeps/programs.hpp"

namespace fermata::properties::sweeps {

using namespace std::chrono_literals;

void pool(sim::World& world) {
  int alive = 0;
  Pool<int> pool("pool", {.factory =
                              [&] {
                                suspend();
                                return std::optional(++alive);
                              },
                          .destructor = [&](int&) { --alive; },
                          .before_acquire =
                              [](int&) {
                                suspend();
                                return true;
                              },
                          .max = 2});
  world.sweep_cancellation(
      [&] {
        std::vector<Coroutine<>> users;
        for (int i = 0; i < 3; ++i) {
          users.push_back(spawn("user", [&] {
            const Lease<int> lease = pool.acquire(kPatient);
            suspend();
          }));
        }
        when_all_settled(users);
      },
      {.then = finds_all(world, "POOL-07",
                         [&] {
                           const Lease<int> one = pool.acquire(kPatient);
                           const Lease<int> other = pool.acquire(kPatient);
                           EXPECT_EQ(pool.active_count(), 2) << "POOL-03 (REF)";
                         }),
       .check = [&] {
         EXPECT_EQ(pool.active_count(), 0) << "POOL-03 (REF)";
         EXPECT_EQ(pool.idle_count(), alive) << "POOL-04 (REF)";
         EXPECT_LE(alive, 2) << "POOL-19";
       }});
}

namespace {

constexpr std::uint16_t kPort = 5000;

/// What everybody has together stays what it is.
constexpr std::int64_t kWealth = 20;

class Bank {
 public:
  explicit Bank(db::Database& database) : database_(database) {
    database_.execute("CREATE TABLE account (owner, balance)");
    database_.execute("INSERT INTO account VALUES ('ann', 10)");
    database_.execute("INSERT INTO account VALUES ('bob', 10)");
  }

  /// Two customers at once. A command that times out ends with a DatabaseError, which is expected.
  void use() {
    std::vector<Coroutine<>> customers;
    customers.push_back(spawn("customer", [this] { unless_interrupted([this] { transfer(); }); }));
    customers.push_back(spawn("reader", [this] { unless_interrupted([this] { look(); }); }));
    when_all_settled(customers);
  }

  /// Each of two has a connection of the two.
  void use_all() {
    delay(1s);  // The server hears a little later of a connection that was given up.
    std::vector<Coroutine<>> customers;
    for (int i = 0; i < 2; ++i) customers.push_back(spawn("customer", [this] { look(); }));
    when_all(customers);
    EXPECT_FALSE(database_.in_transaction()) << "DB-05";
    transfer();
  }

 private:
  template <class Action>
  static void unless_interrupted(Action action) {
    try {
      action();
    } catch (const db::DatabaseError&) {
    }
  }

  void transfer() {
    db::Transaction around = database_.transaction();
    database_.execute("SET note = 'mine'");
    database_.execute("UPDATE account SET balance = balance - 1 WHERE owner = 'ann'");
    database_.execute("UPDATE account SET balance = balance + 1 WHERE owner = 'bob'");
    around.commit();
  }

  void look() {
    db::Transaction around = database_.transaction();
    EXPECT_EQ(database_.query_one<std::int64_t>("SELECT sum(balance) FROM account"), kWealth)
        << "DB-06 (VAL): a transfer was left in the middle";
    around.rollback();
  }

  db::Database& database_;
};

}  // namespace

void database_session(sim::World& world) {
  world.heal();
  const auto stored = std::make_shared<sim::Database>("bank");
  world.service("db", [stored] { sim::run_database(*stored, Address("0.0.0.0", kPort)); });
  delay(1ms);
  db::Database database(sim::make_database_driver(), db::parse_url("sim://db:5000/bank"),
                        {.max = 2, .acquire_timeout = kPatient.timeout, .statement_cache = 1});
  Bank bank(database);
  world.sweep_cancellation(
      [&] { bank.use(); },
      {.then = finds_all(world, "DB-06", [&] { bank.use_all(); }), .check = [&] {
         delay(10s);  // What is put in order in the background is by now.
         EXPECT_EQ(database.metrics().active, 0u) << "DB-06 (REF): a connection is kept";
         EXPECT_EQ(database.metrics().waiting, 0u) << "DB-15 (WAKE)";
       }});
}

}  // namespace fermata::properties::sweeps
