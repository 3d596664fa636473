// SPDX-License-Identifier: Apache-2.0
#pragma once

// A command and what is read of its rows; shared with the workers that read them.

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/db/placeholders.hpp"
#include "fermata/db/sqlite/batch.hpp"
#include "fermata/db/sqlite/handle.hpp"

namespace fermata::db::sqlite {

/// A command of SQLite. Made and used by workers, dropped anywhere.
class Statement {
 public:
  Statement(std::shared_ptr<Handle> handle, const Placeholders& command, bool persistent);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { handle_->discard(statement_); }

  [[nodiscard]] Handle& handle() const noexcept { return *handle_; }
  [[nodiscard]] sqlite3_stmt* get() const noexcept { return statement_; }
  [[nodiscard]] std::size_t parameter_count() const noexcept { return parameter_count_; }
  /// Whether the command only changes existing rows, whatever its triggers insert.
  [[nodiscard]] bool only_changes() const noexcept { return only_changes_; }

 private:
  std::shared_ptr<Handle> handle_;
  sqlite3_stmt* statement_;
  std::size_t parameter_count_;
  bool only_changes_;
};

/// One execution of a command.
class Cursor {
 public:
  static constexpr std::size_t kAllRows = SIZE_MAX;

  Cursor(std::shared_ptr<Statement> statement, std::vector<Value> parameters)
      : statement_(std::move(statement)), parameters_(std::move(parameters)) {}

  /// Starts the command and reads its first rows. Called on a worker thread.
  [[nodiscard]] Batch begin(std::size_t rows);
  /// Reads at most `rows` of the next rows, fewer when they are long. Called on a worker thread.
  [[nodiscard]] Batch read(std::size_t rows);
  /// The names of the columns; known after begin().
  [[nodiscard]] const std::vector<std::string>& columns() const noexcept { return columns_; }

 private:
  void bind();
  void learn_columns();
  void read_row(Batch& batch) const;

  std::shared_ptr<Statement> statement_;
  std::vector<Value> parameters_;  // SQLite refers to them while the command runs.
  std::vector<std::string> columns_;
};

}  // namespace fermata::db::sqlite
