// SPDX-License-Identifier: Apache-2.0
#pragma once

// What databases of laws share: somebody watches who uses their connections, and the books that
// transfers are written to.
//
// Commands     SELECT number | SELECT number + n FROM digit, which is five rows | SET mark = number
//              INSERT INTO book VALUES (transfer, amount), ... | transactions with savepoints

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "fermata/db/database.hpp"
#include "properties/models/connections_model.hpp"
#include "properties/models/transfers_model.hpp"
#include "properties/scripts/stage.hpp"

namespace fermata::properties {

/// All that the connections share. They may be closed after the subject: then nobody listens.
class WatchedDatabase {
 public:
  explicit WatchedDatabase(Stage& stage)
      : connections(1u + stage.script().shape[0] % 3u),
        stage_(&stage),
        shape_(stage.script().shape) {}
  WatchedDatabase(const WatchedDatabase&) = delete;
  WatchedDatabase& operator=(const WatchedDatabase&) = delete;
  virtual ~WatchedDatabase() = default;

  static constexpr int kDigits = 5;
  /// How it says that there is no transaction to end.
  static constexpr const char* kNoTransaction = "25P01";

  /// How many connections there are at most.
  [[nodiscard]] std::size_t max() const noexcept { return 1u + shape_[0] % 3u; }
  /// How it wants to be used.
  virtual void choose(db::DatabaseOptions& options) const = 0;

  /// Whether it may fail with `error`; `half_way` in a transaction whose last command was left.
  [[nodiscard]] virtual bool may_fail(const db::DatabaseError& error, bool half_way) const = 0;
  /// Whether a transaction is spoilt in which a stream was left before its end.
  [[nodiscard]] virtual bool stopping_spoils() const noexcept { return false; }
  /// Whether the connection may have to be given up.
  [[nodiscard]] virtual bool may_cost(int connection) const = 0;
  /// What the session of the coroutine has been set to; 0 when it is new. Nothing where that cannot
  /// be asked.
  [[nodiscard]] virtual std::optional<std::int64_t> mark(db::Database& database) const = 0;

  /// From now on nothing goes wrong, and soon nothing is left of what did. May suspend.
  virtual void settle() {}
  /// Nobody uses it any more: `transfers` is told what the books have.
  virtual void end() {}

  void complain(const models::Complaint& complaint) {
    if (stage_ != nullptr) stage_->complain(complaint);
  }
  /// Nobody keeps connections for later.
  void closing() noexcept { closing_ = true; }
  void leave() noexcept { stage_ = nullptr; }

  /// The caller: the current actor, or the database itself.
  [[nodiscard]] std::size_t caller() const {
    const auto actor = stage_ != nullptr ? stage_->current_actor() : std::nullopt;
    return actor.value_or(models::ConnectionsModel::kUpkeep);
  }
  /// The number of a new connection.
  [[nodiscard]] int connecting() {
    const int connection = connections.connecting();
    complain(connections.too_many());
    return connection;
  }
  void ended(int connection) {
    complain(connections.ended(connection, closing_ || stage_ == nullptr || may_cost(connection)));
  }

  models::ConnectionsModel connections;
  models::TransfersModel transfers;

 protected:
  Stage* stage_;  // Null once the subject has gone.
  std::array<std::uint8_t, 4> shape_;

 private:
  bool closing_ = false;
};

/// A call on a connection: the model sees its user meanwhile.
class WatchedCall {
 public:
  WatchedCall(WatchedDatabase& database, int connection,
              const models::ConnectionsModel::Traces& left)
      : database_(database), connection_(connection) {
    database.complain(database.connections.begins(connection, database.caller(), left));
  }
  WatchedCall(const WatchedCall&) = delete;
  WatchedCall& operator=(const WatchedCall&) = delete;
  ~WatchedCall() { database_.connections.ends(connection_); }

 private:
  WatchedDatabase& database_;
  int connection_;
};

}  // namespace fermata::properties
