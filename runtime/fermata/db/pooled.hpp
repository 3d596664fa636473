// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "fermata/base/time.hpp"
#include "fermata/db/driver.hpp"

namespace fermata::db::detail {

/// The prepared commands of one connection that nobody uses at the moment, the latest first. Two
/// users of one text have two commands.
class StatementCache {
 public:
  explicit StatementCache(std::size_t limit) noexcept : limit_(limit) {}

  /// Null when there is none.
  [[nodiscard]] std::unique_ptr<Prepared> take(std::string_view sql);
  void put(std::string sql, std::unique_ptr<Prepared> prepared);
  /// Whether this was asked of `sql` before, and of fewer than the limit since.
  [[nodiscard]] bool is_asked_again(std::string_view sql);
  void clear() noexcept { entries_.clear(); }
  [[nodiscard]] std::size_t limit() const noexcept { return limit_; }
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    std::string sql;
    std::unique_ptr<Prepared> prepared;
  };
  std::size_t limit_;
  std::list<Entry> entries_;
  std::list<std::string> asked_;  // The latest first.
};

/// A connection, with what has to be known of it until it is used again.
struct Pooled {
  Pooled(std::unique_ptr<Connection> made, std::size_t cached, Instant now)
      : connection(std::move(made)), statements(cached), made_at(now), idle_since(now) {}

  std::unique_ptr<Connection> connection;
  StatementCache statements;
  Instant made_at;
  Instant idle_since;
  /// The version of the attributes that the session has.
  std::uint64_t attributes = 0;
  /// The session may have been changed (DB-13).
  bool touched = false;
  /// A command was left in the middle (DB-11).
  bool interrupted = false;

  void interrupt() {
    connection->interrupt();
    interrupted = false;
  }
  void reset() {
    statements.clear();
    connection->reset_session();
    touched = false;
    attributes = 0;
  }
};

}  // namespace fermata::db::detail
