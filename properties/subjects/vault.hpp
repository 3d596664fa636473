// SPDX-License-Identifier: Apache-2.0
#pragma once

// A database in memory that watches who uses its connections. It answers late, refuses and hangs up
// as the script says, and is as careless as drivers may be: a command that was interrupted leaves
// its answer to be taken for the next one's, until somebody calls interrupt().
//
// Commands     SELECT number | SELECT mark | SELECT 5 FROM number | SET mark = number
//              UPDATE book ADD amount OF transfer | RESET | transactions with savepoints

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/db/driver.hpp"
#include "properties/models/connections_model.hpp"
#include "properties/models/transfers_model.hpp"
#include "properties/scripts/stage.hpp"

namespace fermata::properties {

/// All that the connections share. They may be closed after the subject: then nobody listens.
class Vault {
 public:
  explicit Vault(Stage& stage);

  [[nodiscard]] std::size_t max() const noexcept { return 1u + shape_[0] % 3u; }
  /// Whether it refuses commands and hangs up.
  [[nodiscard]] bool fails() const noexcept { return shape_[1] >= 4; }
  /// Whether a command that is refused spoils its transaction.
  [[nodiscard]] bool refusals_spoil() const noexcept { return (shape_[3] & 4) != 0; }

  void complain(const models::Complaint& complaint) {
    if (stage_ != nullptr) stage_->complain(complaint);
  }
  void leave() noexcept { stage_ = nullptr; }

  /// Who calls: an actor or, if it is none, the database itself.
  [[nodiscard]] std::size_t caller() const;
  /// Something is on its way, in one direction. May suspend.
  void travel() const;
  [[nodiscard]] bool unlucky() const;

  models::ConnectionsModel connections;
  models::TransfersModel transfers;

 private:
  Stage* stage_;
  std::array<std::uint8_t, 4> shape_;
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
