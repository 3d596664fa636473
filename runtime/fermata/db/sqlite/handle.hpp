// SPDX-License-Identifier: Apache-2.0
#pragma once

// An open database of SQLite, shared by its connection and the workers that run its commands.
//
// Turns     The runtime's thread gives each piece of work the turn of the time, and stop() begins
//           another: what runs in an earlier turn ends soon, and what has not begun never does.
//           One that is interrupted between two steps of SQLite would not notice sqlite3_interrupt.
// Threads   `Worker's` functions are called inside run() only.

#include <sqlite3.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/db/driver.hpp"
#include "fermata/db/sqlite/location.hpp"

namespace fermata::db::sqlite {

class Handle {
 public:
  /// Use open_handle().
  Handle(const Location& location, bool create);
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  /// Closes the database; on the thread that has used it last.
  ~Handle() { close(); }

  [[nodiscard]] const Location& location() const noexcept { return location_; }

  // --- the runtime's thread ---

  /// A command is under way, or was left in the middle.
  bool busy = false;
  bool broken = false;

  [[nodiscard]] std::uint64_t turn() const noexcept { return turn_.load(); }
  /// Ends what is running; does not wait for it.
  void stop() noexcept;
  /// The state of the transaction after the last command.
  [[nodiscard]] TransactionState transaction() const noexcept;
  /// Throws ParameterError unless SQLite can have `parameters`, and there are `count`.
  void check(Parameters parameters, std::size_t count) const;
  /// Throws ConnectionLost when it is broken.
  void require_in_order() const;
  /// False when the file is known to have gone. REQUIRES: not busy.
  [[nodiscard]] bool file_is_there() const noexcept;

  // --- any thread ---

  /// `statement` is not needed any more.
  void discard(sqlite3_stmt* statement) noexcept;

  // --- a worker's thread ---

  /// Calls `function` as soon as nothing else is at work on this.
  template <class F>
  auto run(std::uint64_t turn, F& function) {
    const std::lock_guard lock(work_);
    const Turn mine(*this, turn);
    return function();
  }
  /// Brings what was left in the middle to its end. Throws ConnectionLost when it takes too long.
  void settle(std::uint64_t turn);
  /// Finishes every statement and the file.
  void close() noexcept;

  /// Worker's. One command, without parameters in it. Throws QueryError.
  [[nodiscard]] sqlite3_stmt* prepare(std::string_view sql, bool persistent);
  /// Worker's. Another row, or the end. Throws QueryError.
  [[nodiscard]] bool step(sqlite3_stmt* statement);
  /// Worker's. Runs `sql`, without parameters, to its end; whether there were rows.
  bool run_whole(std::string_view sql);
  /// Worker's. Throws what `code`, with the message that SQLite has to it, means.
  [[noreturn]] void fail(int code);
  [[noreturn]] void refuse(std::string_view sqlstate, std::string_view message) const;

  /// Worker's. Counts what is changed from now on.
  void watch_changes() noexcept;
  [[nodiscard]] Effect changes() const;

 private:
  /// A turn of `run`: what is done before and after the work.
  class Turn {
   public:
    Turn(Handle& handle, std::uint64_t turn);
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn();

   private:
    Handle& handle_;
  };

  void open(int flags);
  [[nodiscard]] bool is_stopped() const noexcept { return turn_.load() != running_; }
  [[nodiscard]] bool wait_for_others();
  void finish_discarded() noexcept;

  static int on_progress(void* handle);
  static int on_busy(void* handle, int calls);
  static void on_change(void* handle, int operation, const char* database, const char* table,
                        sqlite3_int64 row);

  const Location location_;
  std::uint64_t longest_value_ = 0;
  std::timed_mutex work_;
  std::atomic<std::uint64_t> turn_{0};
  std::atomic<bool> in_transaction_{false};

  // Of whoever has work_.
  std::uint64_t running_ = 0;
  std::chrono::milliseconds waited_{0};
  int changes_before_ = 0;
  bool inserted_ = false;

  std::mutex guard_;
  std::condition_variable stop_;
  sqlite3* database_ = nullptr;  // Changed with both, read with either.
  std::vector<sqlite3_stmt*> discarded_;
};

/// Opens a database, on a worker's thread; the file is created only with `create`. Whoever lets go
/// of it last on the runtime's thread has a worker close it: that may take long. Throws
/// ConnectError.
[[nodiscard]] std::shared_ptr<Handle> open_handle(const Location& location, bool create);

}  // namespace fermata::db::sqlite
