// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/odbc/session.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <new>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/db/errors.hpp"
#include "fermata/io/offload.hpp"

namespace fermata::db::odbc {

namespace {

constexpr std::uintptr_t kLoginTimeoutSeconds = 30;

SQLPOINTER number(std::uintptr_t value) {
  return reinterpret_cast<SQLPOINTER>(value);  // NOLINT(performance-no-int-to-ptr): ODBC's way
}

bool says_lost(std::string_view sqlstate) {
  // 57P01 to 57P03: PostgreSQL ends, or begins.
  return sqlstate.starts_with("08") || sqlstate == "57P01" || sqlstate == "57P02" ||
         sqlstate == "57P03";
}

}  // namespace

std::shared_ptr<Session> Session::make(std::string database) {
  return {new Session(std::move(database)), &Session::destroy};
}

void Session::destroy(Session* session) noexcept {
  struct Delete {
    void operator()(Session* owned) const noexcept { delete owned; }
  };
  std::unique_ptr<Session, Delete> owned(session);
  const bool on_loop = fermata::detail::current_runtime_pointer != nullptr;
  if (!on_loop || session->connection_ == SQL_NULL_HDBC) return;
  try {
    auto disconnect = [owned = std::move(owned)]() mutable { owned.reset(); };
    using TaskType = fermata::detail::TaskOf<decltype(disconnect), void>;
    const auto task = Ref<TaskType>::adopt(
        *new TaskType(current_runtime().reactor().offload(), std::move(disconnect)));
    task->start();
  } catch (...) {  // NOLINT(bugprone-empty-catch): no worker to have; it has ended here
  }
}

Session::~Session() {
  disconnect();
  if (connection_ != SQL_NULL_HDBC) SQLFreeHandle(SQL_HANDLE_DBC, connection_);
  if (environment_ != SQL_NULL_HENV) SQLFreeHandle(SQL_HANDLE_ENV, environment_);
}

void Session::disconnect() noexcept {
  if (!connected_) return;
  free_retired();
  if (transaction() != TransactionState::None && !is_broken()) roll_back();
  set_broken();
  if (!SQL_SUCCEEDED(SQLDisconnect(connection_))) {
    // It thinks of a transaction still.
    SQLEndTran(SQL_HANDLE_DBC, connection_, SQL_ROLLBACK);
    SQLDisconnect(connection_);
  }
  connected_ = false;
}

void Session::roll_back() noexcept {
  if (manual_) {
    SQLEndTran(SQL_HANDLE_DBC, connection_, SQL_ROLLBACK);
    return;
  }
  SQLHSTMT statement = SQL_NULL_HSTMT;
  if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, connection_, &statement))) return;
  char rollback[] = "ROLLBACK";
  SQLExecDirect(statement, reinterpret_cast<SQLCHAR*>(rollback), SQL_NTS);
  SQLFreeHandle(SQL_HANDLE_STMT, statement);
}

std::string Session::product() {
  std::string name(64, '\0');
  SQLSMALLINT length = 0;
  const SQLRETURN status = SQLGetInfo(connection_, SQL_DBMS_NAME, name.data(),
                                      static_cast<SQLSMALLINT>(name.size()), &length);
  if (!SQL_SUCCEEDED(status)) fail(SQL_HANDLE_DBC, connection_);
  return name.c_str();
}

Session::Running::Running(Session& session, SQLHSTMT statement) : session_(session) {
  const std::lock_guard lock(session_.running_mutex_);
  FERMATA_ASSERT(session_.running_ == SQL_NULL_HSTMT);
  session_.running_ = statement;
}

Session::Running::~Running() {
  const std::lock_guard lock(session_.running_mutex_);
  session_.running_ = SQL_NULL_HSTMT;
}

void Session::cancel() noexcept {
  const std::unique_lock lock(running_mutex_, std::try_to_lock);
  if (lock && running_ != SQL_NULL_HSTMT) SQLCancel(running_);
}

void Session::spoil_transaction() noexcept {
  auto open = TransactionState::Open;
  transaction_.compare_exchange_strong(open, TransactionState::Failed);
}

void Session::retire(SQLHSTMT statement) noexcept {
  const std::lock_guard lock(retired_mutex_);
  try {
    retired_.push_back(statement);
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the connection's end frees it
  }
}

void Session::free_retired() noexcept {
  std::vector<SQLHSTMT> retired;
  {
    const std::lock_guard lock(retired_mutex_);
    retired.swap(retired_);
  }
  for (const SQLHSTMT statement : retired) SQLFreeHandle(SQL_HANDLE_STMT, statement);
}

void Session::connect(const std::string& connection_string,
                      const std::vector<std::string>& passwords) {
  FERMATA_ASSERT(!connected_ && connection_ == SQL_NULL_HDBC);
  if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &environment_))) {
    throw ConnectError(database_, sqlstate::kCannotConnect, "no memory for unixODBC");
  }
  SQLSetEnvAttr(environment_, SQL_ATTR_ODBC_VERSION, number(SQL_OV_ODBC3), SQL_IS_UINTEGER);
  if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_DBC, environment_, &connection_))) {
    fail_to_connect(SQL_HANDLE_ENV, environment_, passwords);
  }
  SQLSetConnectAttr(connection_, SQL_ATTR_LOGIN_TIMEOUT, number(kLoginTimeoutSeconds),
                    SQL_IS_UINTEGER);
  std::string text = connection_string;
  const SQLRETURN status = SQLDriverConnect(
      connection_, nullptr, reinterpret_cast<SQLCHAR*>(text.data()),
      static_cast<SQLSMALLINT>(text.size()), nullptr, 0, nullptr, SQL_DRIVER_NOPROMPT);
  if (!SQL_SUCCEEDED(status)) fail_to_connect(SQL_HANDLE_DBC, connection_, passwords);
  connected_ = true;
}

void Session::fail_to_connect(SQLSMALLINT handle_type, SQLHANDLE handle,
                              const std::vector<std::string>& passwords) {
  broken_ = true;
  Diagnostics said = read_diagnostics(handle_type, handle);
  if (said.sqlstate == sqlstate::kFailed) said.sqlstate = sqlstate::kCannotConnect;
  const bool shows_password =
      std::any_of(passwords.begin(), passwords.end(), [&](const std::string& password) {
        return said.message.find(password) != std::string::npos;
      });
  if (shows_password) said.message = "the driver's message is not shown: it has the password in it";
  throw ConnectError(database_, said.sqlstate, said.message);
}

SQLHSTMT Session::allocate_statement() {
  FERMATA_ASSERT(connected_);
  SQLHSTMT statement = SQL_NULL_HSTMT;
  if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, connection_, &statement))) {
    fail(SQL_HANDLE_DBC, connection_);
  }
  return statement;
}

void Session::fail(SQLSMALLINT handle_type, SQLHANDLE handle) {
  const Diagnostics said = read_diagnostics(handle_type, handle);
  look_for_loss(said.sqlstate);
  if (broken_) throw ConnectionLost(database_, said.sqlstate, said.message);
  if (said.sqlstate == "25P02") {
    transaction_ = TransactionState::Failed;
  } else if (stopping_ || said.sqlstate.starts_with("40")) {
    spoil_transaction();
  }
  if (said.sqlstate == "07001" || said.sqlstate == "07002") {
    throw ParameterError(database_, said.sqlstate, said.message);
  }
  throw QueryError(database_, said.sqlstate, said.message);
}

void Session::look_for_loss(std::string_view sqlstate) noexcept {
  SQLUINTEGER dead = SQL_CD_FALSE;
  const SQLRETURN status =
      SQLGetConnectAttr(connection_, SQL_ATTR_CONNECTION_DEAD, &dead, SQL_IS_UINTEGER, nullptr);
  if ((SQL_SUCCEEDED(status) && dead == SQL_CD_TRUE) || says_lost(sqlstate)) broken_ = true;
}

void Session::set_autocommit(bool on) {
  const std::uintptr_t value = on ? SQL_AUTOCOMMIT_ON : SQL_AUTOCOMMIT_OFF;
  if (!SQL_SUCCEEDED(
          SQLSetConnectAttr(connection_, SQL_ATTR_AUTOCOMMIT, number(value), SQL_IS_UINTEGER))) {
    fail(SQL_HANDLE_DBC, connection_);
  }
  manual_ = !on;
}

void Session::begin() {
  FERMATA_ASSERT(!manual_ && transaction_ == TransactionState::None);
  set_autocommit(false);
  transaction_ = TransactionState::Open;
}

void Session::end(bool commit) {
  FERMATA_ASSERT(manual_);
  std::exception_ptr refused;
  if (commit && !SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, connection_, SQL_COMMIT))) {
    try {
      fail(SQL_HANDLE_DBC, connection_);
    } catch (const QueryError&) {
      refused = std::current_exception();
    }
  }
  try {
    if ((!commit || refused) &&
        !SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, connection_, SQL_ROLLBACK))) {
      fail(SQL_HANDLE_DBC, connection_);
    }
    set_autocommit(true);
  } catch (const QueryError& error) {
    // Whether there is a transaction is not known.
    broken_ = true;
    throw ConnectionLost(database_, error.sqlstate(), error.what());
  }
  transaction_ = TransactionState::None;
  if (refused) std::rethrow_exception(refused);
}

void Session::was_executed(const TransactionWords& words) {
  switch (words.step) {
    case TransactionStep::None:
      if (words.returns_to_savepoint && transaction_ == TransactionState::Failed) {
        transaction_ = TransactionState::Open;
      }
      break;
    case TransactionStep::Begin:
      transaction_ = TransactionState::Open;
      break;
    case TransactionStep::Commit:
    case TransactionStep::Rollback:
      if (manual_) return end(words.step == TransactionStep::Commit);
      transaction_ = TransactionState::None;
      break;
  }
}

void Session::was_refused(const TransactionWords& words) noexcept {
  if (words.step == TransactionStep::Begin && !words.alone) transaction_ = TransactionState::Open;
}

}  // namespace fermata::db::odbc
