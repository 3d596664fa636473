// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fermata/db/reader.hpp"
#include "fermata/db/stream.hpp"
#include "fermata/sync/within.hpp"

namespace fermata::db {

/// A command that the server has prepared. It keeps its connection, for its coroutine while that
/// lives and for itself after that: it may outlive the coroutine and the Database (DB-08). One
/// coroutine at a time uses it.
class Statement {
 public:
  Statement(Statement&& from) noexcept = default;
  Statement& operator=(Statement&&) = delete;
  ~Statement() {
    if (session_ == nullptr) return;
    if (is_forgotten()) prepared_.reset();
    session_->let_go(std::move(sql_), std::move(prepared_));
  }

  /// These do what the calls of Database with the same names do.
  template <class Row = Values, class... Args>
  [[nodiscard]] std::vector<Row> query(const Args&... args) {
    return run(args...).template all<Row>();
  }
  template <class Row = Values, class... Args>
  [[nodiscard]] Row query_one(const Args&... args) {
    return run(args...).template one<Row>();
  }
  template <class... Args>
  Effect execute(const Args&... args) {
    return run(args...).skip();
  }
  template <class Row = Values, class... Args>
  [[nodiscard]] Stream<Row> stream(const Args&... args) {
    return Stream<Row>(run(args...));
  }

  // --- the same with a limit for the whole command; see sync/within.hpp ---

  template <class Row = Values, class... Args>
  [[nodiscard]] std::vector<Row> query(const WaitOptions& options, const Args&... args) {
    return within(options, [&] { return query<Row>(args...); });
  }
  template <class Row = Values, class... Args>
  [[nodiscard]] Row query_one(const WaitOptions& options, const Args&... args) {
    return within(options, [&] { return query_one<Row>(args...); });
  }
  template <class... Args>
  Effect execute(const WaitOptions& options, const Args&... args) {
    return within(options, [&] { return execute(args...); });
  }
  /// The limit is for the start; each next() has its own.
  template <class Row = Values, class... Args>
  [[nodiscard]] Stream<Row> stream(const WaitOptions& options, const Args&... args) {
    return within(options, [&] { return stream<Row>(args...); });
  }

  [[nodiscard]] const std::string& sql() const noexcept { return sql_; }

 private:
  friend class Database;
  Statement(std::shared_ptr<detail::Session> session, std::string sql)
      : session_(std::move(session)), sql_(std::move(sql)) {
    try {
      prepared_ = session_->prepare(sql_);
      made_after_ = session_->resets();
    } catch (...) {
      session_.reset();
      throw;
    }
  }

  template <class... Args>
  detail::Reader run(const Args&... args) {
    const std::array<Cell, sizeof...(Args)> cells = {
        detail::to_cell(session_->database(), args)...};
    return {session_, start(cells)};
  }
  [[nodiscard]] std::unique_ptr<Answer> start(Parameters parameters);
  /// Whether the session has been reset since, which invalidates the statement.
  [[nodiscard]] bool is_forgotten() const noexcept { return made_after_ != session_->resets(); }
  void prepare_anew();

  std::shared_ptr<detail::Session> session_;  // Null once moved from.
  std::string sql_;
  std::unique_ptr<Prepared> prepared_;
  std::uint64_t made_after_ = 0;  // So many resets of the session.
};

}  // namespace fermata::db
