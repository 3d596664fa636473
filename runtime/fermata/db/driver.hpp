// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a kind of database has to offer to be shared through a Database. A driver knows nothing of
// coroutines' claims, pools or transactions of others: one coroutine at a time uses a connection.
//
// Suspension   Everything may suspend but destructors and what is noexcept.
// Errors       errors.hpp. A command that fails with QueryError or ParameterError leaves the
//              connection in order; after ConnectionLost it is is_broken().
// Cancellation A call that is interrupted, by whatever exception is not one of those, leaves the
//              connection in the middle of a command: only interrupt() and the destructor may
//              follow.
// Parameters   Their text and bytes are used no longer than the call lasts, interrupted or not.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/db/target.hpp"
#include "fermata/db/value.hpp"

namespace fermata::db {

/// The effect of a command, known once its last row was read.
struct Effect {
  /// Rows inserted, changed or removed; 0 for other commands.
  std::uint64_t affected_rows = 0;
  /// The id that the database has given to the last row inserted, where it gives ids of itself.
  std::optional<std::int64_t> last_insert_id;
};

/// What one command answers, read from the server as the reader asks. Its connection runs no other
/// command until it has ended: with the last row, by an error, or by interrupt(). Its end before
/// that does not suspend, and leaves the connection to interrupt().
class Answer {
 public:
  virtual ~Answer() = default;

  /// The names of the columns; none for a command that answers no rows.
  [[nodiscard]] virtual const std::vector<std::string>& columns() const noexcept = 0;

  /// Reads the next row into `row`, which is as long as columns(); false after the last one. What
  /// the cells refer to lives until the next call.
  virtual bool next(std::vector<Cell>& row) = 0;

  /// REQUIRES: next() has returned false.
  [[nodiscard]] virtual const Effect& effect() const noexcept = 0;
};

/// A command that the server knows already. Does not outlive its connection; its end tells the
/// server no sooner than with the next command.
class Prepared {
 public:
  virtual ~Prepared() = default;
  [[nodiscard]] virtual std::size_t parameter_count() const noexcept = 0;
  [[nodiscard]] virtual std::unique_ptr<Answer> execute(Parameters parameters) = 0;
};

enum class TransactionState : std::uint8_t {
  None,     // Each command is a transaction of its own.
  Open,     // However it was begun.
  Failed,   // Open, but the server takes nothing but its end.
  Unknown,  // The connection is broken.
};

/// How much of an answer is fetched ahead.
enum class Fetch : std::uint8_t {
  All,     // It is small: the server is done with it when the first row is there.
  ByRows,  // As it is read, with bounded memory.
};

class Connection {
 public:
  virtual ~Connection() = default;

  /// Runs a command of no interest but for its effect.
  Effect run(std::string_view sql);

  /// `sql` is one command with parameters as $1, $2, ..., whatever the database calls them.
  [[nodiscard]] virtual std::unique_ptr<Answer> execute(std::string_view sql, Parameters parameters,
                                                        Fetch fetch) = 0;
  [[nodiscard]] virtual std::unique_ptr<Prepared> prepare(std::string_view sql) = 0;
  /// `sql` for parameters of the same kinds as these, answered just as execute() would. Null where
  /// that does not run sooner than execute() does.
  [[nodiscard]] virtual std::unique_ptr<Prepared> prepare_like(std::string_view sql,
                                                               Parameters parameters);
  /// Whether `error`, of a prepared command, says no more than that it has to be prepared anew.
  [[nodiscard]] virtual bool is_stale_plan(std::string_view sqlstate) const noexcept = 0;

  virtual void begin();
  virtual void commit();
  virtual void rollback();
  /// The state of the transaction as the server reported it with its last answer, which may differ
  /// from what was asked for.
  [[nodiscard]] virtual TransactionState transaction() const noexcept = 0;
  [[nodiscard]] virtual bool is_broken() const noexcept = 0;
  /// False when the other side is known to have gone; looks without waiting.
  [[nodiscard]] virtual bool looks_alive() noexcept = 0;

  /// Throws when the server does not answer.
  virtual void ping() = 0;
  /// Makes the session as it was when it was new: settings, temporary tables, locks, user
  /// variables. Prepared commands are gone then, and attributes have to be set again.
  virtual void reset_session() = 0;
  /// An attribute of the session, by its name at the server.
  virtual void set_attribute(std::string_view name, std::string_view value) = 0;
  /// Stops what was left running, at the server too, and reads what it has still to say; in bounded
  /// time. The connection is in order afterwards, or is_broken().
  virtual void interrupt() = 0;
};

class Driver {
 public:
  virtual ~Driver() = default;
  /// Throws UsageError when `target` can never be connected to, without trying.
  virtual void check(const Target& target) const = 0;
  /// Throws ConnectError.
  [[nodiscard]] virtual std::unique_ptr<Connection> connect(Target target) = 0;
};

}  // namespace fermata::db
