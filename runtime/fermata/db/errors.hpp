// SPDX-License-Identifier: Apache-2.0
#pragma once

// What can go wrong with a database: one type for each reaction a caller can have. Each names the
// database, never its password, and has an SQLSTATE.

#include <string>
#include <string_view>

#include "fermata/base/error.hpp"

namespace fermata::db {

/// `database "postgresql://ann@host/shop": SQLSTATE 42P01: relation "x" does not exist`.
class DatabaseError : public Linkable<DatabaseError> {
 public:
  /// `database`: Target::text(). `sqlstate`: five characters.
  DatabaseError(std::string_view database, std::string_view sqlstate, std::string_view message);
  [[nodiscard]] const std::string& database() const noexcept { return database_; }
  [[nodiscard]] const std::string& sqlstate() const noexcept { return sqlstate_; }

 private:
  std::string database_;
  std::string sqlstate_;
};

/// No connection came about: nobody is there, or the server turned the caller away.
class ConnectError : public Linkable<ConnectError, DatabaseError> {
 public:
  using Linkable::Linkable;
};

/// The connection has ended, or nothing it says can be trusted. Whether the command that ran took
/// effect is not known. The next command of the coroutine gets another connection.
class ConnectionLost : public Linkable<ConnectionLost, DatabaseError> {
 public:
  using Linkable::Linkable;
};

/// The connection was lost with a transaction open: every command fails with this error until the
/// transaction is rolled back.
class TransactionLost : public Linkable<TransactionLost, ConnectionLost> {
 public:
  using Linkable::Linkable;
};

/// The server has refused a command; the connection is in order.
class QueryError : public Linkable<QueryError, DatabaseError> {
 public:
  using Linkable::Linkable;
};

/// A transaction is begun twice, or ended without a beginning.
class TransactionError : public Linkable<TransactionError, DatabaseError> {
 public:
  using Linkable::Linkable;
};

/// A command has other parameters than it was given, or one that cannot be sent.
class ParameterError : public Linkable<ParameterError, DatabaseError> {
 public:
  using Linkable::Linkable;
};

/// A row does not have the shape that the program asked for.
class ColumnError : public Linkable<ColumnError, DatabaseError> {
 public:
  using Linkable::Linkable;
};

/// SQLSTATEs that are made here.
namespace sqlstate {
inline constexpr std::string_view kSuccess = "00000";
inline constexpr std::string_view kCannotConnect = "08001";
inline constexpr std::string_view kConnectionLost = "08006";
inline constexpr std::string_view kProtocolViolation = "08P01";
inline constexpr std::string_view kBadParameters = "07001";
inline constexpr std::string_view kBadCount = "21000";
inline constexpr std::string_view kBadColumn = "22018";
inline constexpr std::string_view kActiveTransaction = "25001";
inline constexpr std::string_view kNoActiveTransaction = "25P01";
inline constexpr std::string_view kFailed = "HY000";
}  // namespace sqlstate

}  // namespace fermata::db
