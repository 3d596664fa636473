// SPDX-License-Identifier: Apache-2.0
#pragma once

// The connections of a database as its server sees them: who uses each, and what it was left with.

#include <cstddef>
#include <map>
#include <string>

#include "properties/models/complaint.hpp"

namespace fermata::models {

class ConnectionsModel {
 public:
  /// The database itself, which puts connections in order; anybody else is a coroutine.
  static constexpr std::size_t kUpkeep = static_cast<std::size_t>(-1);

  /// What a session has that its next user must not find.
  struct Traces {
    bool transaction = false;
    bool changed = false;  // Settings.
    bool unread = false;   // An answer, or a part of one.
  };

  explicit ConnectionsModel(std::size_t max) : max_(max) {}

  static std::string user_of(std::size_t who) {
    return who == kUpkeep ? "the database" : "actor " + std::to_string(who);
  }

  // --- their life ---

  /// Its number. It is one of them from now on, unless refused.
  [[nodiscard]] int connecting() {
    connections_[++last_id_] = {};
    return last_id_;
  }
  [[nodiscard]] Complaint too_many() const {
    if (count() <= max_) return {};
    return "DB-15 (CAP): there are " + std::to_string(count()) + " connections, at most " +
           std::to_string(max_) + " may be";
  }
  void refused(int id) { connections_.erase(id); }
  void broke(int id) { connections_[id].broken = true; }
  /// `is_due` unless it would still be of use.
  [[nodiscard]] Complaint ended(int id, bool is_due) {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return "DB-06 (ONCE): " + name_of(id) + " is closed twice";
    const bool broken = found->second.broken;
    connections_.erase(found);
    if (is_due || broken) return {};
    return "DB-11 (COST): " + name_of(id) + " is closed, and nothing has broken it";
  }
  /// Number of connections, including those that are being made.
  [[nodiscard]] std::size_t count() const noexcept { return connections_.size(); }

  // --- their use ---

  /// `who` calls the driver for it; `left` is what its session has at that moment.
  [[nodiscard]] Complaint begins(int id, std::size_t who, const Traces& left) {
    const auto found = connections_.find(id);
    if (found == connections_.end())
      return "DB-09 (ISO): " + name_of(id) + " is used after its end";
    Connection& connection = found->second;
    Complaint complaint;
    if (connection.broken && who != connection.user) {
      complaint = "DB-09 (ISO): " + user_of(who) + " got " + name_of(id) + ", which is broken";
    } else if (connection.busy) {
      complaint = "DB-03 (ISO): " + user_of(who) + " uses " + name_of(id) + " while " +
                  user_of(connection.user) + " does";
    } else if (who != kUpkeep && who != connection.user) {
      complaint = found_by(who, id, left);
    }
    connection.busy = true;
    connection.user = who;
    if (who != kUpkeep) last_used_[who] = id;
    return complaint;
  }
  void ends(int id) { connections_[id].busy = false; }

  /// Who has used it last.
  [[nodiscard]] std::size_t last_user(int id) const {
    const auto found = connections_.find(id);
    return found != connections_.end() ? found->second.user : kUpkeep;
  }
  /// Which connection `who` has used last; 0 for none.
  [[nodiscard]] int last_used_by(std::size_t who) const {
    const auto found = last_used_.find(who);
    return found != last_used_.end() ? found->second : 0;
  }

 private:
  struct Connection {
    std::size_t user = kUpkeep;
    bool busy = false;
    bool broken = false;
  };

  [[nodiscard]] static Complaint found_by(std::size_t who, int id, const Traces& left) {
    const std::string begin = user_of(who) + " got " + name_of(id) + " with ";
    if (left.transaction) return "DB-05 (ISO): " + begin + "somebody else's transaction open";
    if (left.changed) return "DB-13 (ISO): " + begin + "somebody else's settings";
    if (left.unread) return "DB-11 (ISO): " + begin + "somebody else's answer to be read";
    return {};
  }
  static std::string name_of(int id) { return "connection " + std::to_string(id); }

  std::size_t max_;
  int last_id_ = 0;
  std::map<int, Connection> connections_;
  std::map<std::size_t, int> last_used_;
};

}  // namespace fermata::models
