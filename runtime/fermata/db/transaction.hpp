// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "fermata/db/session.hpp"

namespace fermata::db {

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
  void release() { std::exchange(session_, nullptr)->release(number_); }
  /// Undoes the changes since the savepoint. Suspends.
  void roll_back() { std::exchange(session_, nullptr)->roll_back(number_); }

 private:
  friend class Transaction;
  explicit Savepoint(std::shared_ptr<detail::Session> session)
      : number_(session->savepoint()), session_(std::move(session)) {}

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
  void commit() {
    session_->commit();
    session_.reset();
  }
  void rollback() { std::exchange(session_, nullptr)->rollback(); }
  [[nodiscard]] Savepoint savepoint() { return Savepoint(session_); }

 private:
  friend class Database;
  explicit Transaction(std::shared_ptr<detail::Session> session) : session_(std::move(session)) {
    session_->begin();
  }

  std::shared_ptr<detail::Session> session_;  // Null once it has ended.
};

}  // namespace fermata::db
