// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mysql.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/time.hpp"
#include "fermata/db/errors.hpp"

namespace fermata::db::mariadb {

/// What Connector/C knows of a connection, and the waits for it. An operation of the library that a
/// wait was thrown out of goes on in drain(): the library has a stack of its own inside of it.
class Link {
 public:
  explicit Link(std::string database);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  /// Waits for nothing.
  ~Link();

  [[nodiscard]] MYSQL* get() const noexcept { return handle_; }
  [[nodiscard]] const std::string& database() const noexcept { return database_; }
  [[nodiscard]] bool is_broken() const noexcept { return broken_; }
  /// Whether somebody has to drain it.
  [[nodiscard]] bool is_busy() const noexcept {
    return unfinished_ != nullptr || asked_ || rows_ != nullptr || running_ != nullptr;
  }

  /// Drives an operation to its end: `start` and `resume` are the two calls of the library for it.
  template <class Result, class Start, class Resume>
  Result drive(Start start, Resume resume) {
    FERMATA_ASSERT(unfinished_ == nullptr);
    Result result{};
    int status = start(&result);
    while (status != 0) {
      int ready = 0;
      try {
        ready = wait(status);
      } catch (...) {
        unfinished_status_ = status;
        unfinished_ = [resume](int at) {
          Result late{};
          const int left = resume(&late, at);
          if (left == 0) drop(late);
          return left;
        };
        throw;
      }
      status = resume(&result, ready);
    }
    return result;
  }
  /// Like drive(), for calls without a result.
  template <class Start, class Resume>
  void drive_plain(Start start, Resume resume) {
    drive<int>([&](int*) { return start(); }, [resume](int*, int at) { return resume(at); });
  }

  /// Sends a command as text. Its result is claimed by store() or use(), or drained.
  void ask(std::string sql);
  /// The rows of the command: all, or to be read one by one; null when it has none.
  [[nodiscard]] MYSQL_RES* store();
  [[nodiscard]] MYSQL_RES* use();
  /// The rows that use() gave have been read.
  void end_rows() noexcept { rows_ = nullptr; }
  /// Results of a command that answers several.
  void skip_results();

  /// While a prepared command runs or its rows are read; null afterwards.
  void run(MYSQL_STMT* statement) noexcept { running_ = statement; }

  /// Keeps what the library refers to until the operation that runs has ended.
  void keep(std::shared_ptr<void> data) noexcept { kept_ = std::move(data); }

  /// Closes it at the server with a later command.
  void forget(MYSQL_STMT* statement) { forgotten_.push_back(statement); }
  void close_forgotten();

  /// Finishes an operation that was left unfinished. Throws Timeout at the limit.
  void drain();
  /// Ends an unfinished operation by force: the connection is broken afterwards.
  void abort() noexcept;
  /// From now on waits end at `deadline` with Timeout.
  void limit(std::optional<Instant> deadline) noexcept { deadline_ = deadline; }

  /// Throws what went wrong last.
  [[noreturn]] void fail();
  [[noreturn]] void fail(MYSQL_STMT* statement);

 private:
  [[noreturn]] void fail(unsigned code, std::string state, const char* message);
  int wait(int status);
  void free_rows(MYSQL_RES* rows);

  static void drop(MYSQL_RES* rows) noexcept {
    if (rows != nullptr) mysql_free_result(rows);
  }
  template <class Other>
  static void drop(Other) noexcept {}

  std::string database_;
  MYSQL* handle_;
  std::optional<Instant> deadline_;
  std::function<int(int)> unfinished_;
  int unfinished_status_ = 0;
  std::shared_ptr<void> kept_;
  bool asked_ = false;  // A text was sent, and its result not claimed.
  MYSQL_RES* rows_ = nullptr;
  MYSQL_STMT* running_ = nullptr;
  std::vector<MYSQL_STMT*> forgotten_;
  bool broken_ = false;
};

}  // namespace fermata::db::mariadb
