// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/sqlite/handle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/db/errors.hpp"
#include "fermata/db/sql_text.hpp"
#include "fermata/db/sqlite/codes.hpp"
#include "fermata/io/offload.hpp"

namespace fermata::db::sqlite {

namespace {

using namespace std::chrono_literals;

constexpr int kStepsBetweenLooks = 1'000;
constexpr auto kSettlingTime = 4s;

/// Whether `sql` has no more than spaces, comments and semicolons.
bool is_blank(std::string_view sql) noexcept {
  while (!sql.empty()) {
    const bool comment = sql.starts_with("--") || sql.starts_with("/*");
    const bool space = std::string_view(" \t\n\v\f\r;").find(sql.front()) != std::string_view::npos;
    if (!comment && !space) return false;
    sql.remove_prefix(comment ? quoted_length(sql) : 1);
  }
  return true;
}

std::string open_message(sqlite3* database, int code) {
  return database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code);
}

/// Deletes it on a worker's thread; here when there is none to be had.
void delete_elsewhere(Handle* handle) noexcept {
  const auto end = [whole = std::shared_ptr<Handle>(handle)] { whole->close(); };
  if (fermata::detail::current_runtime_pointer == nullptr) return;
  using End = fermata::detail::TaskOf<std::decay_t<decltype(end)>, void>;
  try {
    const auto task = Ref<End>::adopt(*new End(current_runtime().reactor().offload(), end));
    task->start();
    task->stop();  // The program may end before.
  } catch (const Error&) {
    FERMATA_ASSERT(handle != nullptr);
  }
}

}  // namespace

Handle::Turn::Turn(Handle& handle, std::uint64_t turn) : handle_(handle) {
  if (turn != handle.turn_.load()) handle.refuse(kInterrupted, "interrupted");
  if (handle.database_ == nullptr) handle.refuse(kStaleStatement, "the session has ended");
  handle.running_ = turn;
  handle.waited_ = 0ms;
  handle.finish_discarded();
}

Handle::Turn::~Turn() {
  if (handle_.database_ == nullptr) return;
  handle_.in_transaction_ = sqlite3_get_autocommit(handle_.database_) == 0;
}

Handle::Handle(const Location& location, bool create) : location_(location) {
  open(create ? location.flags : location.flags & ~SQLITE_OPEN_CREATE);
}

void Handle::open(int flags) {
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(location_.name.c_str(), &database, flags, nullptr);
  database_ = database;
  if (code == SQLITE_OK) {
    sqlite3_extended_result_codes(database_, 1);
    // The first look shows whether it is a database; locks of others are not an error.
    const int look = sqlite3_exec(database_, "PRAGMA schema_version", nullptr, nullptr, nullptr);
    if (!loses_connection(look) && (look & 0xff) != SQLITE_CANTOPEN) {
      longest_value_ =
          static_cast<std::uint64_t>(sqlite3_limit(database_, SQLITE_LIMIT_LENGTH, -1));
      sqlite3_progress_handler(database_, kStepsBetweenLooks, on_progress, this);
      sqlite3_busy_handler(database_, on_busy, this);
      sqlite3_update_hook(database_, on_change, this);
      return;
    }
  }
  const std::string message = open_message(database_, code);
  close();
  throw ConnectError(location_.text, sqlstate::kCannotConnect, message);
}

void Handle::close() noexcept {
  sqlite3* closed = nullptr;
  {
    const std::lock_guard lock(guard_);
    closed = std::exchange(database_, nullptr);
    discarded_.clear();
  }
  if (closed == nullptr) return;
  while (sqlite3_stmt* const statement = sqlite3_next_stmt(closed, nullptr)) {
    sqlite3_finalize(statement);
  }
  sqlite3_close(closed);
}

void Handle::stop() noexcept {
  {
    const std::lock_guard lock(guard_);
    ++turn_;
    if (database_ != nullptr) sqlite3_interrupt(database_);
  }
  stop_.notify_all();
}

TransactionState Handle::transaction() const noexcept {
  if (broken) return TransactionState::Unknown;
  return in_transaction_ ? TransactionState::Open : TransactionState::None;
}

void Handle::check(Parameters parameters, std::size_t count) const {
  const auto refuse = [this](const std::string& message) {
    throw ParameterError(location_.text, sqlstate::kBadParameters, message);
  };
  if (parameters.size() != count) {
    refuse(fmt::format("{} parameters for a command that has {}", parameters.size(), count));
  }
  for (std::size_t index = 0; index < count; ++index) {
    std::size_t size = 0;
    if (const auto* const text = std::get_if<std::string_view>(&parameters[index])) {
      size = text->size();
      if (text->find('\0') != std::string_view::npos) {
        refuse(fmt::format("parameter ${}: text without NUL", index + 1));
      }
    } else if (const auto* const bytes = std::get_if<BytesView>(&parameters[index])) {
      size = bytes->size();
    } else if (const auto* const number = std::get_if<double>(&parameters[index])) {
      // It would be stored as NULL.
      if (std::isnan(*number)) refuse(fmt::format("parameter ${}: not a number", index + 1));
    }
    if (size > longest_value_) {
      refuse(fmt::format("parameter ${}: {} bytes, and at most {} can be stored", index + 1, size,
                         longest_value_));
    }
  }
}

void Handle::require_in_order() const {
  if (!broken) return;
  throw ConnectionLost(location_.text, sqlstate::kConnectionLost, "the connection is broken");
}

bool Handle::file_is_there() const noexcept {
  FERMATA_ASSERT(!busy);
  if (location_.in_memory) return true;
  int moved = 0;
  const int code = sqlite3_file_control(database_, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return code != SQLITE_OK || moved == 0;
}

void Handle::discard(sqlite3_stmt* statement) noexcept {
  FERMATA_ASSERT(statement != nullptr);
  const std::lock_guard lock(guard_);
  if (database_ != nullptr) discarded_.push_back(statement);
}

void Handle::finish_discarded() noexcept {
  std::vector<sqlite3_stmt*> statements;
  {
    const std::lock_guard lock(guard_);
    statements.swap(discarded_);
  }
  for (sqlite3_stmt* const statement : statements) sqlite3_finalize(statement);
}

void Handle::settle(std::uint64_t turn) {
  const std::unique_lock lock(work_, kSettlingTime);
  if (!lock.owns_lock()) {
    throw ConnectionLost(location_.text, sqlstate::kConnectionLost, "a command does not end");
  }
  const Turn mine(*this, turn);
  sqlite3_stmt* statement = nullptr;
  while ((statement = sqlite3_next_stmt(database_, statement)) != nullptr) {
    if (sqlite3_stmt_busy(statement) != 0) sqlite3_reset(statement);
  }
}

sqlite3_stmt* Handle::prepare(std::string_view sql, bool persistent) {
  FERMATA_ASSERT(database_ != nullptr);
  if (sql.find('\0') != std::string_view::npos) refuse(kSyntaxError, "a command with a NUL");
  const unsigned flags = persistent ? SQLITE_PREPARE_PERSISTENT : 0;
  for (;;) {
    sqlite3_stmt* statement = nullptr;
    const char* tail = nullptr;
    const int code = sqlite3_prepare_v3(database_, sql.data(), static_cast<int>(sql.size()), flags,
                                        &statement, &tail);
    if (code == SQLITE_LOCKED_SHAREDCACHE && wait_for_others()) continue;
    if (code != SQLITE_OK) fail(code);
    if (statement == nullptr) refuse(kSyntaxError, "an empty command");
    if (is_blank(sql.substr(static_cast<std::size_t>(tail - sql.data())))) return statement;
    sqlite3_finalize(statement);
    refuse(kSyntaxError, "more than one command");
  }
}

bool Handle::step(sqlite3_stmt* statement) {
  FERMATA_ASSERT(statement != nullptr);
  for (;;) {
    const bool first = sqlite3_stmt_busy(statement) == 0;
    if (is_stopped()) refuse(kInterrupted, "interrupted");
    const int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    // Those who share memory do not wait for each other by themselves.
    if (code != SQLITE_LOCKED_SHAREDCACHE || !first) fail(code);
    sqlite3_reset(statement);
    if (!wait_for_others()) fail(code);
  }
}

bool Handle::run_whole(std::string_view sql) {
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(prepare(sql, false),
                                                                        sqlite3_finalize);
  bool rows = false;
  while (step(statement.get())) rows = true;
  return rows;
}

void Handle::fail(int code) {
  const std::string message = sqlite3_errmsg(database_);
  if (loses_connection(code)) {
    throw ConnectionLost(location_.text, sqlstate_of(code, message), message);
  }
  refuse(sqlstate_of(code, message), message);
}

void Handle::refuse(std::string_view sqlstate, std::string_view message) const {
  throw QueryError(location_.text, sqlstate, message);
}

void Handle::watch_changes() noexcept {
  FERMATA_ASSERT(database_ != nullptr);
  changes_before_ = sqlite3_total_changes(database_);
  inserted_ = false;
}

Effect Handle::changes() const {
  Effect effect;
  if (sqlite3_total_changes(database_) == changes_before_) return effect;
  effect.affected_rows = static_cast<std::uint64_t>(sqlite3_changes(database_));
  if (inserted_) effect.last_insert_id = sqlite3_last_insert_rowid(database_);
  return effect;
}

/// Whether it is worth another try.
bool Handle::wait_for_others() {
  const auto span = std::min({1ms + waited_ / 4, 50ms, location_.busy_timeout - waited_});
  std::unique_lock lock(guard_);
  if (span <= 0ms || is_stopped()) return false;
  stop_.wait_for(lock, span);
  waited_ += span;
  return !is_stopped();
}

int Handle::on_progress(void* handle) { return static_cast<Handle*>(handle)->is_stopped() ? 1 : 0; }

int Handle::on_busy(void* handle, int calls) {
  auto& self = *static_cast<Handle*>(handle);
  if (calls == 0) self.waited_ = 0ms;
  return self.wait_for_others() ? 1 : 0;
}

void Handle::on_change(void* handle, int operation, const char*, const char*, sqlite3_int64) {
  if (operation == SQLITE_INSERT) static_cast<Handle*>(handle)->inserted_ = true;
}

std::shared_ptr<Handle> open_handle(const Location& location, bool create) {
  return {new Handle(location, create), &delete_elsewhere};
}

}  // namespace fermata::db::sqlite
