// SPDX-License-Identifier: Apache-2.0
#pragma once

// The handles of one connection.
//
// Threads    One worker at a time calls what is marked so. The rest is for every thread.
// Ownership  Who works with it owns it too. When the last owner lets go on the loop's thread, a
//            worker disconnects: that may wait for the network.

#include <sql.h>
#include <sqlext.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/db/driver.hpp"
#include "fermata/db/odbc/diagnostics.hpp"
#include "fermata/db/odbc/transaction_words.hpp"

namespace fermata::db::odbc {

class Session {
 public:
  /// `database`: Target::text(), for errors.
  [[nodiscard]] static std::shared_ptr<Session> make(std::string database);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const std::string& database() const noexcept { return database_; }
  [[nodiscard]] TransactionState transaction() const noexcept {
    return is_broken() ? TransactionState::Unknown : transaction_.load();
  }
  /// Whether autocommit is off.
  [[nodiscard]] bool is_manual() const noexcept { return manual_; }
  [[nodiscard]] bool is_broken() const noexcept { return broken_; }
  void set_broken() noexcept { broken_ = true; }
  [[nodiscard]] bool is_connected() const noexcept { return connected_; }

  /// Stops what a worker does, as far as the driver can.
  void cancel() noexcept;
  /// Whether operations that begin from now on are stopped too.
  void set_stopping(bool stopping) noexcept { stopping_ = stopping; }
  [[nodiscard]] bool is_stopping() const noexcept { return stopping_; }
  /// Frees `statement` in the next work.
  void retire(SQLHSTMT statement) noexcept;

  // --- workers ---

  /// Throws ConnectError, which shows none of `passwords`.
  void connect(const std::string& connection_string, const std::vector<std::string>& passwords);
  /// Disconnects: an open transaction is rolled back, and the session is broken then.
  void disconnect() noexcept;
  /// The name that the database gives itself.
  [[nodiscard]] std::string product();
  [[nodiscard]] SQLHSTMT allocate_statement();
  void free_retired() noexcept;

  /// Runs `call` for `statement` and returns its result; cancel() reaches it meanwhile.
  template <class F>
  SQLRETURN call(SQLHSTMT statement, F&& call) {
    const Running running(*this, statement);
    return call();
  }
  /// Throws what the last call on `handle` has left: QueryError, ParameterError or ConnectionLost.
  [[noreturn]] void fail(SQLSMALLINT handle_type, SQLHANDLE handle);

  void begin();
  void end(bool commit);
  /// `words` were executed, as SQL.
  void was_executed(const TransactionWords& words);
  /// `words` were refused, or a part of them.
  void was_refused(const TransactionWords& words) noexcept;

 private:
  /// Says what cancel() is for.
  class Running {
   public:
    Running(Session& session, SQLHSTMT statement);
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    /// Waits for a cancel() on the way, so that it reaches nothing that comes later.
    ~Running();

   private:
    Session& session_;
  };

  explicit Session(std::string database) : database_(std::move(database)) {}
  ~Session();

  static void destroy(Session* session) noexcept;
  void set_autocommit(bool on);
  void roll_back() noexcept;
  /// Notes that it is unknown what the database has undone of an open transaction.
  void spoil_transaction() noexcept;
  void look_for_loss(std::string_view sqlstate) noexcept;
  [[noreturn]] void fail_to_connect(SQLSMALLINT handle_type, SQLHANDLE handle,
                                    const std::vector<std::string>& passwords);

  std::string database_;
  SQLHENV environment_ = SQL_NULL_HENV;
  SQLHDBC connection_ = SQL_NULL_HDBC;
  std::atomic<bool> connected_ = false;
  std::atomic<TransactionState> transaction_ = TransactionState::None;
  std::atomic<bool> manual_ = false;
  std::atomic<bool> broken_ = false;
  std::atomic<bool> stopping_ = false;

  std::mutex running_mutex_;
  SQLHSTMT running_ = SQL_NULL_HSTMT;
  std::mutex retired_mutex_;
  std::vector<SQLHSTMT> retired_;
};

}  // namespace fermata::db::odbc
