// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/mariadb/link.hpp"

#include <errmsg.h>
#include <mysqld_error.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <new>

#include "fermata/core/suspend.hpp"
#include "fermata/io/descriptor.hpp"

namespace fermata::db::mariadb {

namespace {

constexpr std::array<unsigned, 9> kLost = {
    CR_SERVER_GONE_ERROR,    CR_SERVER_LOST,          CR_MALFORMED_PACKET,
    CR_COMMANDS_OUT_OF_SYNC, CR_CONN_HOST_ERROR,      ER_CONNECTION_KILLED,
    ER_SERVER_SHUTDOWN,      ER_NET_PACKET_TOO_LARGE, CR_SERVER_LOST_EXTENDED};

}  // namespace

Link::Link(std::string database) : database_(std::move(database)), handle_(mysql_init(nullptr)) {
  if (handle_ == nullptr) throw std::bad_alloc();
  mysql_options(handle_, MYSQL_OPT_NONBLOCK, nullptr);
}

Link::~Link() {
  if (is_busy()) abort();
  // Of a connection in order the few bytes of a farewell are sent, for which there is room.
  mysql_close(handle_);
  for (MYSQL_STMT* const statement : forgotten_) mysql_stmt_close(statement);
}

int Link::wait(int status) {
  FERMATA_ASSERT(status != 0);
  PollMask mask = PollMask::None;
  if ((status & MYSQL_WAIT_READ) != 0) mask = mask | PollMask::Readable;
  if ((status & MYSQL_WAIT_WRITE) != 0) mask = mask | PollMask::Writable;
  if ((status & MYSQL_WAIT_EXCEPT) != 0) mask = mask | PollMask::Prioritized;
  Duration timeout = Duration::max();
  const bool own_limit = (status & MYSQL_WAIT_TIMEOUT) != 0;
  if (own_limit) timeout = std::chrono::milliseconds(mysql_get_timeout_value_ms(handle_));
  const bool callers_limit = deadline_ && *deadline_ - now() < timeout;
  if (callers_limit) timeout = std::max(Duration::zero(), *deadline_ - now());

  Descriptor socket(mysql_get_socket(handle_));  // Another one after each step, perhaps.
  PollMask ready = PollMask::None;
  try {
    WaitOptions options;
    if (own_limit || callers_limit) options.timeout = timeout;
    ready = socket.wait(mask, options);
  } catch (const Timeout&) {
    if (callers_limit) throw;
    return MYSQL_WAIT_TIMEOUT;
  }
  if (any(ready & PollMask::Disconnect)) return status & ~MYSQL_WAIT_TIMEOUT;
  int result = 0;
  if (any(ready & PollMask::Readable)) result |= MYSQL_WAIT_READ;
  if (any(ready & PollMask::Writable)) result |= MYSQL_WAIT_WRITE;
  if (any(ready & PollMask::Prioritized)) result |= MYSQL_WAIT_EXCEPT;
  return result;
}

// --- commands ---

void Link::ask(std::string sql) {
  FERMATA_ASSERT(!asked_ && rows_ == nullptr);
  close_forgotten();
  const auto text = std::make_shared<std::string>(std::move(sql));
  keep(text);
  asked_ = true;
  const int error = drive<int>(
      [&](int* result) {
        return mysql_real_query_start(result, handle_, text->data(), text->size());
      },
      [this](int* result, int status) { return mysql_real_query_cont(result, handle_, status); });
  if (error == 0) return;
  asked_ = false;
  fail();
}

MYSQL_RES* Link::store() {
  FERMATA_ASSERT(asked_);
  MYSQL_RES* const rows = drive<MYSQL_RES*>(
      [&](MYSQL_RES** result) { return mysql_store_result_start(result, handle_); },
      [this](MYSQL_RES** result, int status) {
        return mysql_store_result_cont(result, handle_, status);
      });
  asked_ = false;
  if (rows == nullptr && mysql_errno(handle_) != 0) fail();
  return rows;
}

MYSQL_RES* Link::use() {
  FERMATA_ASSERT(asked_ && rows_ == nullptr);
  rows_ = mysql_use_result(handle_);
  asked_ = false;
  if (rows_ == nullptr && mysql_errno(handle_) != 0) fail();
  return rows_;
}

void Link::free_rows(MYSQL_RES* rows) {
  drive_plain([rows] { return mysql_free_result_start(rows); },
              [rows](int status) { return mysql_free_result_cont(rows, status); });
}

void Link::skip_results() {
  while (mysql_more_results(handle_) != 0) {
    const int error =
        drive<int>([&](int* result) { return mysql_next_result_start(result, handle_); },
                   [this](int* result, int status) {
                     return mysql_next_result_cont(result, handle_, status);
                   });
    if (error > 0) fail();
    if (MYSQL_RES* const rows = mysql_use_result(handle_)) free_rows(rows);
  }
}

void Link::close_forgotten() {
  while (!forgotten_.empty()) {
    MYSQL_STMT* const statement = forgotten_.back();
    forgotten_.pop_back();
    drive<my_bool>([&](my_bool* result) { return mysql_stmt_close_start(result, statement); },
                   [statement](my_bool* result, int status) {
                     return mysql_stmt_close_cont(result, statement, status);
                   });
  }
}

// --- ends ---

void Link::drain() {
  while (unfinished_ != nullptr) {
    const int ready = wait(unfinished_status_);
    unfinished_status_ = unfinished_(ready);
    if (unfinished_status_ == 0) unfinished_ = nullptr;
  }
  if (std::exchange(asked_, false) && mysql_errno(handle_) == 0) {
    rows_ = mysql_use_result(handle_);
  }
  if (rows_ != nullptr) free_rows(std::exchange(rows_, nullptr));
  if (running_ != nullptr) {
    MYSQL_STMT* const statement = std::exchange(running_, nullptr);
    drive<my_bool>([&](my_bool* result) { return mysql_stmt_free_result_start(result, statement); },
                   [statement](my_bool* result, int status) {
                     return mysql_stmt_free_result_cont(result, statement, status);
                   });
  }
  try {
    skip_results();
  } catch (const QueryError&) {
    // The command has failed amid its results.
  }
  kept_ = nullptr;
}

// Every wait of the library ends as one that has lasted too long.
void Link::abort() noexcept {
  broken_ = true;
  ::shutdown(mysql_get_socket(handle_), SHUT_RDWR);
  while (unfinished_ != nullptr) {
    unfinished_status_ = unfinished_(MYSQL_WAIT_TIMEOUT);
    if (unfinished_status_ == 0) unfinished_ = nullptr;
  }
  if (rows_ != nullptr) mysql_free_result(std::exchange(rows_, nullptr));
  asked_ = false;
  running_ = nullptr;
}

void Link::fail() { fail(mysql_errno(handle_), mysql_sqlstate(handle_), mysql_error(handle_)); }

void Link::fail(MYSQL_STMT* statement) {
  fail(mysql_stmt_errno(statement), mysql_stmt_sqlstate(statement), mysql_stmt_error(statement));
}

void Link::fail(unsigned code, std::string state, const char* message) {
  if (std::find(kLost.begin(), kLost.end(), code) == kLost.end()) {
    throw QueryError(database_, state, message);
  }
  broken_ = true;
  throw ConnectionLost(database_, state == "HY000" ? sqlstate::kConnectionLost : state, message);
}

}  // namespace fermata::db::mariadb
