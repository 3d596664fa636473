// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/sqlite/cursor.hpp"

#include <type_traits>
#include <utility>
#include <variant>

#include "fermata/base/assert.hpp"
#include "fermata/db/errors.hpp"
#include "fermata/db/sql_text.hpp"

namespace fermata::db::sqlite {

namespace {

constexpr std::size_t kBytesOfBatch = 256 * 1024;

bool begins_with(std::string_view sql, std::string_view word) {
  while (!sql.empty()) {
    if (const std::size_t comment = quoted_length(sql)) {
      sql.remove_prefix(comment);
    } else if (sql.front() <= ' ') {
      sql.remove_prefix(1);
    } else {
      break;
    }
  }
  return sql.size() >= word.size() &&
         sqlite3_strnicmp(sql.data(), word.data(), static_cast<int>(word.size())) == 0;
}

/// Ends the run of a command whatever happens, unless there is more to read.
class ResetUnlessMore {
 public:
  explicit ResetUnlessMore(sqlite3_stmt* statement) : statement_(statement) {}
  ResetUnlessMore(const ResetUnlessMore&) = delete;
  ResetUnlessMore& operator=(const ResetUnlessMore&) = delete;
  ~ResetUnlessMore() {
    if (statement_ == nullptr) return;
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }
  void more() noexcept { statement_ = nullptr; }

 private:
  sqlite3_stmt* statement_;
};

}  // namespace

Statement::Statement(std::shared_ptr<Handle> handle, const Placeholders& command, bool persistent)
    : handle_(std::move(handle)),
      statement_(handle_->prepare(command.sql, persistent)),
      parameter_count_(command.count),
      only_changes_(begins_with(command.sql, "UPDATE") || begins_with(command.sql, "DELETE")) {
  const auto count = static_cast<std::size_t>(sqlite3_bind_parameter_count(statement_));
  if (count == parameter_count_) return;
  sqlite3_finalize(statement_);
  throw ParameterError(handle_->location().text, sqlstate::kBadParameters,
                       "parameters that are not called $1, $2, ...");
}

void Cursor::bind() {
  sqlite3_stmt* const statement = statement_->get();
  for (std::size_t index = 0; index < parameters_.size(); ++index) {
    const int number = static_cast<int>(index) + 1;
    const int code = std::visit(
        [&](const auto& value) {
          using Held = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<Held, Null>) {
            return sqlite3_bind_null(statement, number);
          } else if constexpr (std::is_same_v<Held, double>) {
            return sqlite3_bind_double(statement, number, value);
          } else if constexpr (std::is_same_v<Held, std::string>) {
            return sqlite3_bind_text64(statement, number, value.data(), value.size(), SQLITE_STATIC,
                                       SQLITE_UTF8);
          } else if constexpr (std::is_same_v<Held, Bytes>) {
            // Without an address it would be NULL.
            const void* const data = value.empty() ? "" : static_cast<const void*>(value.data());
            return sqlite3_bind_blob64(statement, number, data, value.size(), SQLITE_STATIC);
          } else {
            return sqlite3_bind_int64(statement, number, value);
          }
        },
        parameters_[index]);
    if (code != SQLITE_OK) statement_->handle().fail(code);
  }
}

Batch Cursor::begin(std::size_t rows) {
  bind();
  statement_->handle().watch_changes();
  return read(rows);
}

Batch Cursor::read(std::size_t rows) {
  Handle& handle = statement_->handle();
  ResetUnlessMore reset(statement_->get());
  Batch batch;
  const std::size_t bytes = rows == kAllRows ? SIZE_MAX : kBytesOfBatch;
  for (std::size_t row = 0; row < rows && batch.kept() < bytes; ++row) {
    const bool any = handle.step(statement_->get());
    // Only now: SQLite may have made the command anew for a table that has changed.
    if (columns_.empty()) learn_columns();
    if (!any) {
      batch.last = true;
      batch.effect = handle.changes();
      if (statement_->only_changes()) batch.effect.last_insert_id.reset();
      return batch;
    }
    read_row(batch);
  }
  reset.more();
  return batch;
}

void Cursor::learn_columns() {
  FERMATA_ASSERT(columns_.empty());
  const int count = sqlite3_column_count(statement_->get());
  for (int column = 0; column < count; ++column) {
    columns_.emplace_back(sqlite3_column_name(statement_->get(), column));
  }
}

void Cursor::read_row(Batch& batch) const {
  sqlite3_stmt* const statement = statement_->get();
  const int count = static_cast<int>(columns_.size());
  FERMATA_ASSERT(count == sqlite3_data_count(statement));
  for (int column = 0; column < count; ++column) {
    switch (sqlite3_column_type(statement, column)) {
      case SQLITE_NULL:
        batch.cells.emplace_back(Null());
        break;
      case SQLITE_INTEGER:
        batch.cells.emplace_back(std::int64_t{sqlite3_column_int64(statement, column)});
        break;
      case SQLITE_FLOAT:
        batch.cells.emplace_back(sqlite3_column_double(statement, column));
        break;
      case SQLITE_TEXT: {
        const void* const text = sqlite3_column_text(statement, column);
        const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
        batch.cells.emplace_back(std::string_view(batch.keep(text, size), size));
        break;
      }
      default: {
        const void* const bytes = sqlite3_column_blob(statement, column);
        const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
        const auto* const kept = reinterpret_cast<const std::byte*>(batch.keep(bytes, size));
        batch.cells.emplace_back(BytesView(kept, size));
      }
    }
  }
}

}  // namespace fermata::db::sqlite
