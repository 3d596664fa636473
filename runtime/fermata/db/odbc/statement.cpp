// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/odbc/statement.hpp"

#include "fermata/base/assert.hpp"
#include "fermata/db/errors.hpp"

namespace fermata::db::odbc {

namespace {

constexpr std::size_t kRowsAhead = 256;
constexpr std::size_t kBytesAhead = std::size_t{1} << 18;
constexpr std::string_view kStopped = "57014";

std::size_t size_of(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return text->size();
  if (const auto* bytes = std::get_if<Bytes>(&value)) return bytes->size();
  return 0;
}

}  // namespace

Statement::Statement(std::shared_ptr<Session> session, std::string sql)
    : session_(std::move(session)), sql_(std::move(sql)) {}

Statement::~Statement() {
  if (handle_ != SQL_NULL_HSTMT) session_->retire(handle_);
}

void Statement::allocate() {
  session_->free_retired();
  if (handle_ == SQL_NULL_HSTMT) handle_ = session_->allocate_statement();
}

void Statement::prepare() {
  allocate();
  const SQLRETURN status = session_->call(handle_, [this] {
    return SQLPrepare(handle_, reinterpret_cast<SQLCHAR*>(sql_.data()),
                      static_cast<SQLINTEGER>(sql_.size()));
  });
  if (!SQL_SUCCEEDED(status)) fail();
  prepared_ = true;
}

Batch Statement::execute(BoundParameters& parameters, const TransactionWords& words, Fetch fetch) {
  allocate();
  close();
  if (!prepared_ && !parameters.empty()) prepare();
  if (!parameters.bind(handle_)) fail();
  if (session_->is_stopping()) throw QueryError(session_->database(), kStopped, "stopped");
  const SQLRETURN status = send();
  // Some drivers say so when no row was changed.
  if (!SQL_SUCCEEDED(status) && status != SQL_NO_DATA) {
    session_->was_refused(words);
    fail();
  }
  open_ = true;
  describe();
  Batch batch = this->fetch(fetch);
  session_->was_executed(words);
  return batch;
}

SQLRETURN Statement::send() {
  FERMATA_ASSERT(handle_ != SQL_NULL_HSTMT);
  return session_->call(handle_, [this] {
    if (prepared_) return SQLExecute(handle_);
    return SQLExecDirect(handle_, reinterpret_cast<SQLCHAR*>(sql_.data()),
                         static_cast<SQLINTEGER>(sql_.size()));
  });
}

void Statement::describe() {
  columns_.clear();
  SQLSMALLINT count = 0;
  if (!SQL_SUCCEEDED(SQLNumResultCols(handle_, &count))) fail();
  for (SQLUSMALLINT number = 1; number <= static_cast<SQLUSMALLINT>(count); ++number) {
    std::optional<Column> column = describe_column(handle_, number);
    if (!column) fail();
    columns_.push_back(std::move(*column));
  }
}

Batch Statement::fetch(Fetch fetch) {
  FERMATA_ASSERT(open_);
  Batch batch;
  std::size_t bytes = 0;
  for (std::size_t rows = 0; !columns_.empty(); ++rows) {
    if (fetch == Fetch::ByRows && (rows >= kRowsAhead || bytes >= kBytesAhead)) {
      batch.last = false;
      return batch;
    }
    if (session_->is_stopping()) throw QueryError(session_->database(), kStopped, "stopped");
    const SQLRETURN status = session_->call(handle_, [this] { return SQLFetch(handle_); });
    if (status == SQL_NO_DATA) break;
    if (!SQL_SUCCEEDED(status)) fail();
    bytes += fetch_row(batch.cells);
  }
  batch.effect = finish();
  return batch;
}

std::size_t Statement::fetch_row(std::vector<Value>& cells) {
  std::size_t bytes = 0;
  SQLUSMALLINT number = 0;
  for (const Column& column : columns_) {
    std::optional<Value> value = read_cell(handle_, ++number, column.kind);
    if (!value) fail();
    bytes += size_of(*value);
    cells.push_back(std::move(*value));
  }
  return bytes;
}

Effect Statement::finish() {
  Effect effect;
  SQLLEN rows = 0;
  const bool counts = columns_.empty() || changes_rows(sql_);
  if (counts && SQL_SUCCEEDED(SQLRowCount(handle_, &rows)) && rows > 0) {
    effect.affected_rows = static_cast<std::uint64_t>(rows);
  }
  close();
  return effect;
}

void Statement::close() noexcept {
  if (open_) SQLFreeStmt(handle_, SQL_CLOSE);
  open_ = false;
}

}  // namespace fermata::db::odbc
