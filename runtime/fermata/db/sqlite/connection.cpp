// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/sqlite/connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/db/errors.hpp"
#include "fermata/db/placeholders.hpp"
#include "fermata/db/sqlite/codes.hpp"
#include "fermata/db/sqlite/cursor.hpp"
#include "fermata/db/sqlite/on_worker.hpp"

namespace fermata::db::sqlite {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kRowsOfBatch = 256;
constexpr Duration kInterruptTime = 5s;

using Start = std::pair<std::shared_ptr<Cursor>, Batch>;

std::vector<Value> own_all(Parameters parameters) {
  std::vector<Value> values;
  values.reserve(parameters.size());
  for (const Cell& cell : parameters) values.push_back(own(cell));
  return values;
}

class SqliteAnswer final : public Answer {
 public:
  SqliteAnswer(std::shared_ptr<Handle> handle, Start start)
      : handle_(std::move(handle)),
        cursor_(std::move(start.first)),
        columns_(cursor_->columns()),
        batch_(std::move(start.second)) {
    handle_->busy = !batch_.last;
    if (batch_.last) cursor_.reset();
  }

  [[nodiscard]] const std::vector<std::string>& columns() const noexcept override {
    return columns_;
  }

  bool next(std::vector<Cell>& row) override {
    if (next_ == batch_.cells.size() && !batch_.last) fetch();
    if (next_ == batch_.cells.size()) return false;
    FERMATA_ASSERT(batch_.cells.size() - next_ >= columns_.size());
    const auto first = batch_.cells.begin() + static_cast<std::ptrdiff_t>(next_);
    row.assign(first, first + static_cast<std::ptrdiff_t>(columns_.size()));
    next_ += columns_.size();
    return true;
  }

  [[nodiscard]] const Effect& effect() const noexcept override {
    FERMATA_ASSERT(batch_.last && next_ == batch_.cells.size());
    return batch_.effect;
  }

 private:
  void fetch() {
    FERMATA_ASSERT(cursor_ != nullptr);
    batch_ = on_worker(handle_, [cursor = cursor_] { return cursor->read(kRowsOfBatch); });
    handle_->busy = !batch_.last;
    if (batch_.last) cursor_.reset();
    next_ = 0;
  }

  std::shared_ptr<Handle> handle_;
  std::shared_ptr<Cursor> cursor_;  // Null after the last batch.
  std::vector<std::string> columns_;
  Batch batch_;
  std::size_t next_ = 0;
};

class SqlitePrepared final : public Prepared {
 public:
  SqlitePrepared(std::shared_ptr<Handle> handle, std::shared_ptr<Statement> statement)
      : handle_(std::move(handle)), statement_(std::move(statement)) {}

  [[nodiscard]] std::size_t parameter_count() const noexcept override {
    return statement_->parameter_count();
  }

  [[nodiscard]] std::unique_ptr<Answer> execute(Parameters parameters) override {
    handle_->check(parameters, parameter_count());
    auto cursor = std::make_shared<Cursor>(statement_, own_all(parameters));
    Batch batch = on_worker(handle_, [cursor] { return cursor->begin(kRowsOfBatch); });
    return std::make_unique<SqliteAnswer>(handle_, Start(std::move(cursor), std::move(batch)));
  }

 private:
  std::shared_ptr<Handle> handle_;
  std::shared_ptr<Statement> statement_;
};

/// A PRAGMA can have no parameters.
std::string quoted(std::string_view value) {
  std::string text = "'";
  for (const char c : value) {
    text += c;
    if (c == '\'') text += c;
  }
  return text + '\'';
}

bool is_identifier(std::string_view name) noexcept {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace

SqliteConnection::~SqliteConnection() {
  if (handle_->busy) handle_->stop();
}

std::unique_ptr<Answer> SqliteConnection::execute(std::string_view sql, Parameters parameters,
                                                  Fetch fetch) {
  Placeholders command = replace_placeholders(sql, PlaceholderStyle::Numbered);
  handle_->check(parameters, command.count);
  const std::size_t rows = fetch == Fetch::All ? Cursor::kAllRows : kRowsOfBatch;
  Start start = on_worker(handle_, [handle = handle_, command = std::move(command),
                                    values = own_all(parameters), rows]() mutable {
    auto statement = std::make_shared<Statement>(std::move(handle), command, false);
    auto cursor = std::make_shared<Cursor>(std::move(statement), std::move(values));
    Batch batch = cursor->begin(rows);
    return Start(std::move(cursor), std::move(batch));
  });
  return std::make_unique<SqliteAnswer>(handle_, std::move(start));
}

std::unique_ptr<Prepared> SqliteConnection::prepare(std::string_view sql) {
  auto statement = on_worker(
      handle_, [handle = handle_,
                command = replace_placeholders(sql, PlaceholderStyle::Numbered)]() mutable {
        return std::make_shared<Statement>(std::move(handle), command, true);
      });
  return std::make_unique<SqlitePrepared>(handle_, std::move(statement));
}

bool SqliteConnection::is_stale_plan(std::string_view sqlstate) const noexcept {
  return sqlstate == kStaleStatement;
}

bool SqliteConnection::looks_alive() noexcept {
  return !handle_->broken && (handle_->busy || handle_->file_is_there());
}

// The session is as long as the file is open: nothing less takes back every PRAGMA.
void SqliteConnection::reset_session() {
  handle_->require_in_order();
  try {
    std::shared_ptr<Handle> old = handle_;
    handle_ = offload([old] { return open_handle(old->location(), false); });
    on_worker(old, [old] {
      old->close();
      return true;
    });
  } catch (const ConnectError& error) {
    handle_->broken = true;
    throw ConnectionLost(error.database(), error.sqlstate(), error.what());
  }
}

void SqliteConnection::set_attribute(std::string_view name, std::string_view value) {
  if (!is_identifier(name)) {
    throw UsageError(fmt::format("database \"{}\": attribute \"{}\": expected the name of a PRAGMA",
                                 handle_->location().text, name));
  }
  on_worker(handle_, [handle = handle_, name = std::string(name), value = quoted(value)] {
    const bool is_known = handle->run_whole(
        fmt::format("SELECT 1 FROM pragma_pragma_list WHERE name = lower('{}')", name));
    // SQLite would say nothing.
    if (!is_known) handle->refuse("42704", fmt::format("no PRAGMA {}", name));
    handle->run_whole(fmt::format("PRAGMA {} = {}", name, value));
    return true;
  });
}

void SqliteConnection::interrupt() {
  if (!handle_->busy || handle_->broken) return;
  handle_->stop();
  try {
    offload([handle = handle_, turn = handle_->turn()] { handle->settle(turn); },
            {.timeout = kInterruptTime});
    handle_->busy = false;
  } catch (const Error&) {
    handle_->broken = true;
  } catch (...) {
    handle_->broken = true;
    throw;
  }
}

}  // namespace fermata::db::sqlite
