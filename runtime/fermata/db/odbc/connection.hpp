// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fermata/db/odbc/session.hpp"
#include "fermata/db/odbc/statement.hpp"
#include "fermata/db/odbc/worker.hpp"

namespace fermata::db::odbc {

/// Suspends while a worker calls the driver.
class OdbcConnection final : public Connection {
 public:
  explicit OdbcConnection(Target target);
  /// A command in the middle is stopped, later and on another thread.
  ~OdbcConnection() override;
  void connect() { connect(session_, nullptr); }

  std::unique_ptr<Answer> execute(std::string_view sql, Parameters parameters,
                                  Fetch fetch) override;
  std::unique_ptr<Prepared> prepare(std::string_view sql) override;
  bool is_stale_plan(std::string_view sqlstate) const noexcept override;
  void begin() override;
  void commit() override { end(true); }
  void rollback() override { end(false); }
  TransactionState transaction() const noexcept override { return session_->transaction(); }
  bool is_broken() const noexcept override { return session_->is_broken(); }
  bool looks_alive() noexcept override { return !is_broken(); }
  void ping() override;
  void reset_session() override;
  void set_attribute(std::string_view name, std::string_view value) override;
  void interrupt() override;

  // --- for answers and prepared commands ---

  [[nodiscard]] std::unique_ptr<Answer> start(std::shared_ptr<Statement> statement,
                                              BoundParameters parameters,
                                              const TransactionWords& words, Fetch fetch);
  [[nodiscard]] Batch fetch(const std::shared_ptr<Statement>& statement, Fetch fetch);
  /// Throws ConnectionLost when this is broken; QueryError in a failed transaction that `words` do
  /// not end, and for a statement of a session that was reset.
  void check(const TransactionWords& words, const Statement* statement = nullptr) const;
  [[nodiscard]] const std::string& database() const noexcept { return session_->database(); }

 private:
  void connect(std::shared_ptr<Session> session, std::shared_ptr<Session> instead_of);
  void end(bool commit);

  Target target_;
  std::shared_ptr<Session> session_;
  std::shared_ptr<Session> fresh_;    // What reset_session() is about to use.
  std::weak_ptr<Statement> current_;  // The last one that was executed.
  Worker worker_;
};

}  // namespace fermata::db::odbc
