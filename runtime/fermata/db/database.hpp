// SPDX-License-Identifier: Apache-2.0
#pragma once

// One database that all coroutines of a runtime share, as if each had a connection of its own.
//
//   auto shop = db::Database::connect("postgresql://ann:secret@127.0.0.1/shop", {.max = 8});
//   auto transfer = shop.transaction();
//   shop.execute("UPDATE account SET balance = balance - $1 WHERE id = $2", amount, from);
//   shop.execute("UPDATE account SET balance = balance + $1 WHERE id = $2", amount, to);
//   transfer.commit();
//   using Row = std::tuple<int, double>;
//   for (auto& [id, balance] : shop.query<Row>("SELECT id, balance FROM account"))
//
// Connections  A coroutine has one while it needs it: in a transaction, while a statement or stream
//              lives, and from a command that may change the session to its end or reset_session().
//              Otherwise each command may get another one.
// End          When a coroutine ends, however it does, its transaction is rolled back and its
//              session reset before anybody else gets the connection. In the background.
// Suspension   Every command suspends, and takes WaitOptions. Inside a coroutine only; UsageError
//              outside. A Database belongs to one runtime.
// Errors       errors.hpp; Timeout when no connection was free in time, ServiceUnavailable while
//              the circuit is open, PoolError once closed.
// Cancellation Stops a command at the server too, and so does the end of its limit. Nobody else is
//              hit by that, or sees its answer.
// Source       DB-01 to 20.

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/db/database_core.hpp"
#include "fermata/db/reader.hpp"
#include "fermata/db/statement.hpp"
#include "fermata/db/stream.hpp"
#include "fermata/db/transaction.hpp"
#include "fermata/sync/within.hpp"

namespace fermata::db {

class Database {
 public:
  /// The database at a URL, see Target: sqlite, postgresql, mariadb or odbc. Connects to nothing.
  /// Throws UsageError, which never shows the password. It is in the library fermata::db_drivers,
  /// which has every driver of this build; all else here is in fermata::db.
  [[nodiscard]] static Database connect(std::string_view url, DatabaseOptions options = {});
  /// The database of one driver: one's own, or what make_driver() of sqlite/driver.hpp ... returns,
  /// from the library fermata::db_sqlite ...
  Database(std::unique_ptr<Driver> driver, Target target, DatabaseOptions options = {})
      : core_(std::make_shared<detail::DatabaseCore>(std::move(driver), std::move(target),
                                                     std::move(options))) {}
  Database(Database&&) noexcept = default;
  Database& operator=(Database&&) = delete;
  /// Closes the database like close(). Statements and streams may outlive it.
  ~Database() {
    if (core_ != nullptr) core_->close();
  }

  // --- commands: `sql` is one command with $1, $2, ... for `args` ---

  /// All rows. Rows and columns become what convert.hpp says; ColumnError when they cannot.
  template <class Row = Values, class... Args>
  [[nodiscard]] std::vector<Row> query(std::string_view sql, const Args&... args) {
    return run(sql, Fetch::All, args...).template all<Row>();
  }
  /// The only row; ColumnError when there is none, or more.
  template <class Row = Values, class... Args>
  [[nodiscard]] Row query_one(std::string_view sql, const Args&... args) {
    return run(sql, Fetch::All, args...).template one<Row>();
  }
  template <class... Args>
  Effect execute(std::string_view sql, const Args&... args) {
    return run(sql, Fetch::All, args...).skip();
  }
  /// Rows as they are read.
  template <class Row = Values, class... Args>
  [[nodiscard]] Stream<Row> stream(std::string_view sql, const Args&... args) {
    return Stream<Row>(run(sql, Fetch::ByRows, args...));
  }
  [[nodiscard]] Statement prepare(std::string sql, const WaitOptions& options = {}) {
    return within(options, [&] { return Statement(core_->session(), std::move(sql)); });
  }

  // --- the same with a limit for the whole command; see sync/within.hpp ---

  template <class Row = Values, class... Args>
  [[nodiscard]] std::vector<Row> query(const WaitOptions& options, std::string_view sql,
                                       const Args&... args) {
    return within(options, [&] { return query<Row>(sql, args...); });
  }
  template <class Row = Values, class... Args>
  [[nodiscard]] Row query_one(const WaitOptions& options, std::string_view sql,
                              const Args&... args) {
    return within(options, [&] { return query_one<Row>(sql, args...); });
  }
  template <class... Args>
  Effect execute(const WaitOptions& options, std::string_view sql, const Args&... args) {
    return within(options, [&] { return execute(sql, args...); });
  }
  /// The limit is for the start; each next() has its own.
  template <class Row = Values, class... Args>
  [[nodiscard]] Stream<Row> stream(const WaitOptions& options, std::string_view sql,
                                   const Args&... args) {
    return within(options, [&] { return stream<Row>(sql, args...); });
  }

  // --- transactions of the current coroutine ---

  [[nodiscard]] Transaction transaction(const WaitOptions& options = {}) {
    return within(options, [&] { return Transaction(core_->session()); });
  }
  /// Runs `function` in a transaction: committed when it returns, rolled back when it throws.
  template <class F>
  auto in_one_transaction(F&& function) {
    Transaction around = transaction();
    if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
      function();
      around.commit();
    } else {
      auto result = function();
      around.commit();
      return result;
    }
  }
  /// Throws TransactionError when one is open.
  void begin(const WaitOptions& options = {}) {
    within(options, [&] { core_->session()->begin(); });
  }
  /// Both throw TransactionError when none is open. A commit whose limit is reached is lost: see
  /// Transaction::commit().
  void commit(const WaitOptions& options = {}) {
    within(options, [&] { require_transaction()->commit(); });
  }
  void rollback(const WaitOptions& options = {}) {
    within(options, [&] { require_transaction()->rollback(); });
  }
  /// Never acquires a connection (DB-07).
  [[nodiscard]] bool in_transaction() const {
    const auto session = core_->peek();
    return session != nullptr && session->in_transaction();
  }

  // --- the rest ---

  /// How the last command of this coroutine has ended; 00000 before the first one (DB-12).
  [[nodiscard]] ErrorState last_error() const { return core_->last_error(); }
  /// Makes the session of this coroutine as new, and gives the connection back. Nothing to do for a
  /// coroutine that has none. Throws TransactionError inside a transaction.
  void reset_session(const WaitOptions& options = {}) {
    if (const auto session = core_->peek()) within(options, [&] { session->reset(); });
  }
  /// Sets an attribute of each session: this coroutine's at once, the others when they are next
  /// acquired.
  void set_attribute(std::string name, std::string value) {
    core_->set_attribute(std::move(name), std::move(value));
  }

  /// Closes the pool of connections. Waiting coroutines fail with PoolError; connections in use are
  /// closed when they come back. Idempotent; does not suspend.
  void close() noexcept { core_->close(); }
  [[nodiscard]] DatabaseMetrics metrics() const { return core_->metrics(); }
  /// The URL without the password.
  [[nodiscard]] const std::string& text() const noexcept { return core_->text(); }
  /// For its state, its circuit and its events.
  [[nodiscard]] Pool<detail::Pooled>& pool() noexcept { return core_->pool(); }

 private:
  template <class... Args>
  detail::Reader run(std::string_view sql, Fetch fetch, const Args&... args) {
    const std::array<Cell, sizeof...(Args)> cells = {detail::to_cell(core_->text(), args)...};
    return start(sql, cells, fetch);
  }
  [[nodiscard]] detail::Reader start(std::string_view sql, Parameters parameters, Fetch fetch);
  [[nodiscard]] std::shared_ptr<detail::Session> require_transaction() const;

  std::shared_ptr<detail::DatabaseCore> core_;
};

}  // namespace fermata::db
