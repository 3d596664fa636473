// SPDX-License-Identifier: Apache-2.0
#pragma once

// The simulated database on a machine of its own, behind a driver and the network: a ledger of the
// wire knows who has sent which command, and who has asked to stop it.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "fermata/sim/db/server.hpp"
#include "properties/models/commands_model.hpp"
#include "properties/subjects/watched_database.hpp"

namespace fermata::properties {

class WiredDatabase final : public WatchedDatabase, public sim::DatabaseTap {
 public:
  WiredDatabase(Stage& stage, bool stopping_spoils);

  /// The machine begins; `self` keeps this.
  static void serve(const std::shared_ptr<WiredDatabase>& self);

  void choose(db::DatabaseOptions& options) const override;
  [[nodiscard]] bool may_fail(const db::DatabaseError& error, bool half_way) const override;
  [[nodiscard]] bool stopping_spoils() const noexcept override { return stopping_spoils_; }
  [[nodiscard]] bool may_cost(int connection) const override;
  [[nodiscard]] std::optional<std::int64_t> mark(db::Database& database) const override;
  void settle() override;
  void end() override;

  void asked(std::uint64_t client, const sim::wire::Frame& frame) override;
  void answered(std::uint64_t client, const sim::wire::Frame& frame) override;

  models::CommandsModel commands;

 private:
  [[nodiscard]] bool breaks() const;
  void answered(std::uint64_t client, bool well, const sim::wire::Frame& frame);

  bool stopping_spoils_;
  sim::Database books_;
  sim::Node* machine_ = nullptr;
  std::map<std::uint64_t, int> connection_of_;  // By client.
  std::set<int> sent_away_;                     // Connections, of those who were silent too long.
};

/// Each connection that it makes, by `inner`, is a user of its own to the server.
[[nodiscard]] std::unique_ptr<db::Driver> make_wired_driver(std::shared_ptr<WiredDatabase> database,
                                                            std::unique_ptr<db::Driver> inner);

}  // namespace fermata::properties
