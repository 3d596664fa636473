// SPDX-License-Identifier: Apache-2.0
#pragma once

// The commands of a database as the wire to its server shows them: who sent each, and who has asked
// to stop it. What a driver does is told by connection, what the server sees by client.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "properties/models/complaint.hpp"
#include "properties/models/connections_model.hpp"

namespace fermata::models {

class CommandsModel {
 public:
  // --- the driver ---

  /// It is asked to stop what runs on the connection.
  void stopping(int connection) { stopping_.insert(connection); }
  /// It says that nothing is left running, and that no wish to stop is on its way.
  void in_order(int connection) { stopping_.erase(connection); }

  // --- the server ---

  void let_in(std::uint64_t client, int connection, std::uint64_t session, std::uint64_t secret) {
    sessions_[client] = {
        .connection = connection, .session = session, .secret = secret, .command = {}};
  }

  /// A command of `who` has come.
  void asked(std::uint64_t client, std::size_t who, std::string text) {
    sessions_[client].command = {who, std::move(text), false};
  }

  [[nodiscard]] Complaint asked_to_stop(std::uint64_t number, std::uint64_t secret) {
    for (auto& [client, session] : sessions_) {
      if (session.session != number) continue;
      const std::string begin = "DB-11 (ISO): it is asked to stop " + session.command.name();
      if (session.secret != secret) return begin + " with a secret of somebody else";
      if (stopping_.count(session.connection) == 0) return begin + ", which nobody wants any more";
      session.command.to_stop = true;
    }
    return {};
  }

  /// It may have come behind the request to stop it.
  [[nodiscard]] Complaint stopped(std::uint64_t client) {
    const Session& session = sessions_[client];
    const Command& command = session.command;
    if (command.to_stop || stopping_.count(session.connection) > 0) return {};
    return "DB-11 (ISO): " + command.name() + " is stopped, and nobody has asked for that";
  }

  /// Its command is over, and has left `transaction` open or not.
  void answered(std::uint64_t client, bool well, bool transaction) {
    Session& session = sessions_[client];
    session.transaction = transaction;
    const std::string& text = session.command.text;
    if (well && text == kReset) session.changed = false;
    if (well && text.rfind("SET ", 0) == 0) session.changed = true;
  }

  /// What the session of a connection has, as far as the server has got.
  [[nodiscard]] ConnectionsModel::Traces traces(int connection) const {
    for (const auto& [client, session] : sessions_) {
      if (session.connection == connection) return {session.transaction, session.changed, false};
    }
    return {};
  }

  static constexpr const char* kReset = "RESET";

 private:
  struct Command {
    std::size_t who = ConnectionsModel::kUpkeep;
    std::string text;
    bool to_stop = false;

    [[nodiscard]] std::string name() const {
      return "'" + text + "' of " + ConnectionsModel::user_of(who);
    }
  };
  struct Session {
    int connection = 0;
    std::uint64_t session = 0;
    std::uint64_t secret = 0;
    Command command;  // The last one that has come.
    bool transaction = false;
    bool changed = false;
  };

  std::set<int> stopping_;
  std::map<std::uint64_t, Session> sessions_;
};

}  // namespace fermata::models
