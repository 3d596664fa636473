// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <libpq-fe.h>

#include <memory>
#include <optional>
#include <string>

#include "fermata/base/time.hpp"
#include "fermata/db/errors.hpp"
#include "fermata/io/descriptor.hpp"

namespace fermata::db::postgresql {

struct FreeConnection {
  void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
};
struct FreeResult {
  void operator()(PGresult* result) const noexcept { PQclear(result); }
};
using ConnectionHandle = std::unique_ptr<PGconn, FreeConnection>;
using ResultHandle = std::unique_ptr<PGresult, FreeResult>;

/// A connection that stands, and the waits for it.
class Link {
 public:
  Link(std::string database, ConnectionHandle handle);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link();

  [[nodiscard]] PGconn* get() const noexcept { return handle_.get(); }
  [[nodiscard]] const std::string& database() const noexcept { return database_; }
  [[nodiscard]] bool is_broken() const noexcept {
    return broken_ || PQstatus(handle_.get()) != CONNECTION_OK;
  }
  void mark_broken() noexcept { broken_ = true; }
  /// When the last command was answered to its end, and the transaction that it has left.
  [[nodiscard]] Instant answered_at() const noexcept { return answered_at_; }
  [[nodiscard]] PGTransactionStatusType left_transaction() const noexcept { return left_; }

  /// Sends what was put into the queue: `queued` is what the call that did so has returned.
  void send(int queued);
  /// The next result of the command that runs; null when there are no more.
  [[nodiscard]] ResultHandle next_result();
  /// The only result of the command that runs. Throws the error that it reports.
  ResultHandle only_result();
  /// Reads to the end of the command; what it says is forgotten.
  void drain();
  /// Reads to the end of the command when `last` was the last result of interest. If `last` is an
  /// error, throws it, rather than the error that the server sends no more.
  void end(const PGresult& last);

  /// From now on waits end at `deadline` with Timeout.
  void limit(std::optional<Instant> deadline) noexcept { deadline_ = deadline; }
  /// Waits for the socket.
  PollMask wait(PollMask mask);
  void consume();

 private:
  void check(const PGresult& result);
  [[noreturn]] void throw_lost();
  void refuse_copy(ExecStatusType status);

  std::string database_;
  ConnectionHandle handle_;
  std::optional<Descriptor> descriptor_;
  std::optional<Instant> deadline_;
  Instant answered_at_;
  PGTransactionStatusType left_ = PQTRANS_IDLE;
  bool broken_ = false;
};

}  // namespace fermata::db::postgresql
