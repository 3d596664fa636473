// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sql.h>

#include <memory>
#include <string>
#include <vector>

#include "fermata/db/driver.hpp"
#include "fermata/db/odbc/columns.hpp"
#include "fermata/db/odbc/parameters.hpp"
#include "fermata/db/odbc/session.hpp"

namespace fermata::db::odbc {

/// Some rows of an answer, one after the other.
struct Batch {
  std::vector<Value> cells;
  bool last = true;  // The command is done.
  Effect effect;     // Of the last one.
};

/// A command at the driver. Its methods are for workers, one at a time; its end is not.
class Statement {
 public:
  /// `sql` has ? for parameters.
  Statement(std::shared_ptr<Session> session, std::string sql);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  void prepare();
  /// The first rows, and the names of the columns.
  [[nodiscard]] Batch execute(BoundParameters& parameters, const TransactionWords& words,
                              Fetch fetch);
  [[nodiscard]] Batch fetch(Fetch fetch);
  /// Ends an answer that nobody reads to its end.
  void close() noexcept;

  /// The columns of the last execute; valid once its work has ended.
  [[nodiscard]] const std::vector<Column>& columns() const noexcept { return columns_; }
  [[nodiscard]] Session& session() const noexcept { return *session_; }

 private:
  void allocate();
  SQLRETURN send();
  [[noreturn]] void fail() { session_->fail(SQL_HANDLE_STMT, handle_); }
  void describe();
  std::size_t fetch_row(std::vector<Value>& cells);
  [[nodiscard]] Effect finish();

  std::shared_ptr<Session> session_;
  std::string sql_;
  SQLHSTMT handle_ = SQL_NULL_HSTMT;
  std::vector<Column> columns_;
  bool prepared_ = false;
  bool open_ = false;  // It has rows to give.
};

}  // namespace fermata::db::odbc
