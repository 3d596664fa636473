// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "tests/database/driver_fixture.hpp"

namespace fermata::database_test {

using namespace std::chrono_literals;
using db::Bytes;
using db::Cell;
using db::Connection;
using db::Fetch;
using db::TransactionState;
using db::Value;

/// The connection answers what it is asked now, not what it was asked before.
inline void expect_in_order(Connection& connection) {
  ASSERT_FALSE(connection.is_broken());
  for (const std::int64_t number : {4711, 4712, 4713}) {
    EXPECT_EQ(ask_integer(connection, fmt::format("SELECT {}", number)), number);
  }
}

/// What a test of any driver works with, on the database of one arm.
class ContractCase {
 public:
  explicit ContractCase(std::string_view arm) : arm_(arm_named(arm)) {}

  /// Runs `body`, of a class derived from this one, as the main coroutine of a runtime. It gets
  /// the connections that its parameters ask for, or what it connects with by itself.
  template <class Case>
  void run(void (Case::*body)(Subject&)) {
    in_runtime([&] { (static_cast<Case*>(this)->*body)(subject_); });
  }
  template <class Case>
  void run(void (Case::*body)(std::unique_ptr<Connection>)) {
    in_runtime([&] { (static_cast<Case*>(this)->*body)(subject_.connect()); });
  }
  template <class Case>
  void run(void (Case::*body)(Connection&)) {
    in_runtime([&] { (static_cast<Case*>(this)->*body)(*subject_.connect()); });
  }
  template <class Case>
  void run(void (Case::*body)(Connection&, Connection&)) {
    in_runtime([&] {
      const std::unique_ptr<Connection> one = subject_.connect();
      const std::unique_ptr<Connection> other = subject_.connect();
      (static_cast<Case*>(this)->*body)(*one, *other);
    });
  }

 protected:
  /// The table `contract`, new and empty.
  void make_table(Connection& connection, std::string_view columns = "i BIGINT") {
    connection.run("DROP TABLE IF EXISTS contract");
    connection.run(fmt::format("CREATE TABLE contract ({})", columns));
  }

  /// A table with a column of each kind.
  void make_kinds(Connection& connection) {
    make_table(connection, fmt::format("i BIGINT, d DOUBLE PRECISION, t TEXT, b {}, truth BOOLEAN",
                                       arm_.bytes_type));
  }

  std::int64_t count(Connection& connection) {
    return ask_integer(connection, "SELECT count(*) FROM contract");
  }

  /// Runs `sql`, which fails; what is said has an SQLSTATE and names the database.
  db::QueryError expect_query_error(Connection& connection, std::string_view sql,
                                    const std::vector<Value>& parameters = {}) {
    try {
      ask(connection, sql, parameters);
    } catch (const db::QueryError& error) {
      EXPECT_EQ(error.sqlstate().size(), 5u) << error.what();
      EXPECT_NE(error.sqlstate(), "00000");
      EXPECT_EQ(error.database(), subject_.target().text());
      return error;
    }
    ADD_FAILURE() << "no error: " << sql;
    return db::QueryError("", "00000", "");
  }

  /// Runs `body` in a coroutine, cancels that after `patience`, and waits for its end. Returns
  /// whether it was cancelled.
  bool cancelled_after(Duration patience, const std::function<void()>& body) {
    auto task = spawn("cancelled", body);
    if (patience == Duration::zero()) {
      suspend();
    } else {
      delay(patience);
    }
    task->cancel();
    try {
      await(task);
    } catch (const Cancellation&) {
      return true;
    }
    return false;
  }

  /// Whether `got` is what was sent, as far as the database can tell.
  bool same(const Value& got, const Value& sent) const {
    const auto* const number = std::get_if<double>(&sent);
    const auto* const other = std::get_if<double>(&got);
    if (arm_.exact_numbers || number == nullptr || other == nullptr) return got == sent;
    const bool fits = std::abs(*number) < 1e308;  // With 15 digits the largest one is too large.
    return !fits || std::abs(*number - *other) <= std::abs(*number) * 1e-15;
  }

  /// Interrupts like the pool does: nothing may end it, and it ends soon.
  void interrupt(Connection& connection) {
    const Instant start = now();
    protect([&] { connection.interrupt(); });
    EXPECT_LT(now() - start, 10s);
    EXPECT_TRUE(!arm_.survives_interrupt || !connection.is_broken());
  }

  const Arm& arm_;
  Subject subject_{arm_};
};

/// What fermata/db/driver.hpp promises, of every driver, on a database of its own.
class DriverContract : public ::testing::TestWithParam<std::string> {};

}  // namespace fermata::database_test

// CONTRACT(Name, Connection& connection) { ... }: a test of DriverContract whose body is the main
// coroutine of a runtime and a member of a ContractCase. Its parameters are those of a run() there.
#define CONTRACT(Name, ...)                                                            \
  struct Name##_Case : ContractCase {                                                  \
    using ContractCase::ContractCase;                                                  \
    void in_main(__VA_ARGS__);                                                         \
  };                                                                                   \
  TEST_P(DriverContract, Name) { Name##_Case(GetParam()).run(&Name##_Case::in_main); } \
  void Name##_Case::in_main(__VA_ARGS__)
