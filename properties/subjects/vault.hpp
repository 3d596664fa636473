// SPDX-License-Identifier: Apache-2.0
#pragma once

// A database in memory that watches who uses its connections. It answers late, refuses and hangs up
// as the script says, and is as careless as drivers may be: a command that was interrupted leaves
// its answer to be taken for the next one's, until somebody calls interrupt().
//
// Commands     Those of watched_database.hpp | SELECT mark | RESET

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/db/driver.hpp"
#include "properties/subjects/watched_database.hpp"

namespace fermata::properties {

class Vault final : public WatchedDatabase {
 public:
  using WatchedDatabase::WatchedDatabase;

  void choose(db::DatabaseOptions& options) const override;
  [[nodiscard]] bool may_fail(const db::DatabaseError& error, bool half_way) const override;
  [[nodiscard]] bool may_cost(int connection) const override;
  [[nodiscard]] std::optional<std::int64_t> mark(db::Database& database) const override;

  /// Whether it refuses commands and hangs up.
  [[nodiscard]] bool fails() const noexcept { return shape_[1] >= 4; }
  /// Whether a command that is refused spoils its transaction.
  [[nodiscard]] bool refusals_spoil() const noexcept { return (shape_[3] & 4) != 0; }

  /// Something is on its way, in one direction. May suspend.
  void travel() const;
  [[nodiscard]] bool unlucky() const;

 private:
  /// Whether what it is asked to put in order may take too long.
  [[nodiscard]] bool is_slow() const noexcept { return shape_[2] >= 4; }
};

/// A connection's other side.
class VaultSession {
 public:
  struct Reply {
    std::deque<std::int64_t> rows;
    std::string refusal;  // SQLSTATE; empty for none.
    db::TransactionState state = db::TransactionState::None;
  };

  explicit VaultSession(Vault& vault) noexcept : vault_(&vault) {}

  /// Does what `sql` says; the answer waits to be read.
  void serve(std::string_view sql);
  [[nodiscard]] std::deque<Reply>& answers() noexcept { return answers_; }
  [[nodiscard]] db::TransactionState state() const noexcept { return state_; }
  [[nodiscard]] models::ConnectionsModel::Traces traces() const noexcept {
    return {state_ != db::TransactionState::None, mark_ != 0, !answers_.empty()};
  }

 private:
  struct Leg {
    std::int64_t transfer = 0;
    std::int64_t amount = 0;
  };

  /// The SQLSTATE of a refusal; empty when it was done.
  std::string carry_out(const std::vector<std::string>& words, Reply& reply);
  std::string go_back_to(const std::string& savepoint, bool forgets);
  void end_transaction(bool commits);

  Vault* vault_;
  std::vector<Leg> legs_;
  std::vector<std::pair<std::string, std::size_t>> savepoints_;
  std::deque<Reply> answers_;
  db::TransactionState state_ = db::TransactionState::None;
  std::int64_t mark_ = 0;
};

[[nodiscard]] std::unique_ptr<db::Driver> make_vault_driver(std::shared_ptr<Vault> vault);

}  // namespace fermata::properties
