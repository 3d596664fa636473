// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "fermata/db/session.hpp"
#include "fermata/sync/within.hpp"

namespace fermata::db {

namespace detail {
/// Throws UsageError when the `what` has ended, or was moved from.
void require_open(const std::shared_ptr<Session>& session, const char* operation, const char* what);
}  // namespace detail

/// A place in a transaction to go back to. Its end without release or roll_back goes back there
/// before the next command.
class Savepoint {
 public:
  Savepoint(Savepoint&&) noexcept = default;
  Savepoint& operator=(Savepoint&&) = delete;
  ~Savepoint() {
    if (session_ != nullptr) session_->roll_back_later(number_);
  }

  /// Releases the savepoint: changes since then stay, as far as the transaction does. Suspends.
  void release(const WaitOptions& options = {}) {
    within(options, [&] { ended("release")->release(number_); });
  }
  /// Undoes the changes since the savepoint. Suspends.
  void roll_back(const WaitOptions& options = {}) {
    within(options, [&] { ended("roll_back")->roll_back(number_); });
  }

 private:
  friend class Transaction;
  explicit Savepoint(std::shared_ptr<detail::Session> session)
      : number_(session->savepoint()), session_(std::move(session)) {}

  /// Ends it and gives its session.
  [[nodiscard]] std::shared_ptr<detail::Session> ended(const char* operation) {
    detail::require_open(session_, operation, "savepoint");
    return std::exchange(session_, nullptr);
  }

  std::uint64_t number_;
  std::shared_ptr<detail::Session> session_;  // Null once it has ended.
};

/// The transaction of a coroutine. Its end without commit rolls it back, in the background: the
/// coroutine's next command gets another connection.
class Transaction {
 public:
  Transaction(Transaction&&) noexcept = default;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction() {
    if (session_ != nullptr) session_->abandon_transaction();
  }

  /// Suspends. Throws TransactionLost, and then it is not known whether it took effect; QueryError
  /// when the server does not take it, and when a command of it had failed: it is over then.
  void commit(const WaitOptions& options = {}) {
    detail::require_open(session_, "commit", "transaction");
    within(options, [&] { session_->commit(); });
    session_.reset();
  }
  void rollback(const WaitOptions& options = {}) {
    detail::require_open(session_, "rollback", "transaction");
    within(options, [&] { std::exchange(session_, nullptr)->rollback(); });
  }
  [[nodiscard]] Savepoint savepoint(const WaitOptions& options = {}) {
    detail::require_open(session_, "savepoint", "transaction");
    return within(options, [&] { return Savepoint(session_); });
  }

 private:
  friend class Database;
  explicit Transaction(std::shared_ptr<detail::Session> session) : session_(std::move(session)) {
    session_->begin();
  }

  std::shared_ptr<detail::Session> session_;  // Null once it has ended.
};

}  // namespace fermata::db
