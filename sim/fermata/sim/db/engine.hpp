// SPDX-License-Identifier: Apache-2.0
#pragma once

// A database in memory: tables, and sessions that use them. Nothing suspends.
//
// Isolation  Serialisable, and nobody waits. Who wants to write what an open transaction of another
//            session has written fails at once with SQLSTATE 40001; so does who wants to read it in
//            a transaction. Who has read, in a transaction, what another one has changed and
//            committed since fails at its next command; if it has written nothing it may still
//            commit. A command outside of a transaction reads what is committed.
// Failure    A command that fails in a transaction leaves that failed: everything but its end, or a
//            return to a savepoint, is refused with 25P02, and COMMIT rolls back.
// Durable    What is committed is in the Database. The end of a session rolls back.
// SQL        CREATE [TEMPORARY] TABLE, DROP TABLE, INSERT, SELECT, UPDATE, DELETE, BEGIN, COMMIT,
//            ROLLBACK, savepoints, SET, SHOW; count(*), sum(), connection_id(), sleep(seconds), and
//            these two as pg_backend_pid(), pg_sleep(). Types of columns are noted but not
//            enforced: a column takes every kind of value. SQLSTATEs are
//            PostgreSQL's, except that BEGIN in a transaction (25001), and COMMIT and ROLLBACK
//            outside of one (25P01), are errors.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/base/time.hpp"
#include "fermata/db/driver.hpp"
#include "fermata/db/value.hpp"
#include "fermata/sim/db/command.hpp"
#include "fermata/sim/db/table.hpp"

namespace fermata::sim {

namespace sql {
class Session;
}

/// The part that survives the server: name, users and everything that was committed.
class Database {
 public:
  explicit Database(std::string name) : name_(std::move(name)) {}
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// From the first one on only users get in. Until then everybody does.
  void add_user(std::string user, std::string password) {
    passwords_.insert_or_assign(std::move(user), std::move(password));
  }
  [[nodiscard]] bool lets_in(std::string_view user, std::string_view password) const;

  /// Rolls back what is open and ends every session there is: each command of it fails.
  void end_sessions() noexcept;
  [[nodiscard]] std::size_t session_count() const noexcept { return sessions_.size(); }
  /// Sessions whose transaction is open or failed.
  [[nodiscard]] std::size_t transaction_count() const noexcept;

 private:
  friend class sql::Session;

  std::string name_;
  std::map<std::string, std::string, std::less<>> passwords_;
  sql::Catalogue tables_;
  std::map<sql::SessionId, sql::Session*> sessions_;
  sql::SessionId sessions_made_ = 0;
  std::uint64_t tables_made_ = 0;
};

namespace sql {

struct Result {
  std::vector<std::string> columns;
  std::vector<Row> rows;
  std::uint64_t affected_rows = 0;
};

/// A command that a session has looked at, with the table it had then.
struct Plan {
  Command command;
  std::uint64_t table = 0;  // Its id; 0 without one.
};

class Session {
 public:
  explicit Session(Database& database);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  /// Never that of another session of this database.
  [[nodiscard]] SessionId id() const noexcept { return id_; }
  [[nodiscard]] db::TransactionState transaction() const noexcept { return state_; }

  /// Throws SqlError, which leaves an open transaction failed; so does execute().
  [[nodiscard]] Plan plan(std::string_view sql);
  /// The table that a command is about; null without one.
  [[nodiscard]] std::shared_ptr<const Table> planned_table(const Plan& plan);
  /// 0A000 when the table of the plan is another one by now, 07001 for another number of parameters
  /// than the command has.
  Result execute(const Plan& plan, std::span<const db::Value> parameters);
  Result execute(std::string_view sql, std::span<const db::Value> parameters = {}) {
    return execute(plan(sql), parameters);
  }

  /// How long a command takes: what it says to sleep().
  [[nodiscard]] Duration duration(const Plan& plan, std::span<const db::Value> parameters) const;

  /// The current command has failed in a way that the session does not know of.
  void fail(std::string_view sqlstate);

  /// Makes it new, but for its id. Throws SqlError 25001 in a transaction.
  void reset();

 private:
  friend class fermata::sim::Database;

  /// A read of a transaction: the rows of a table for which a condition holds.
  struct Read {
    std::shared_ptr<Table> table;
    std::optional<Expression> where;
    std::vector<db::Value> parameters;
  };
  struct Savepoint {
    std::string name;
    std::size_t undo_size;
  };
  /// How to make one thing undone.
  struct Undo {
    std::shared_ptr<Table> table;  // A row of it, when there is no name.
    std::uint64_t row = 0;
    std::string name;  // A table in `catalogue`, or a variable when that is null.
    Catalogue* catalogue = nullptr;
    SessionId writer = kNobody;
    std::optional<Row> row_before;
    std::shared_ptr<Table> table_before;
    std::optional<std::string> variable_before;
  };
  struct Call {
    std::span<const db::Value> parameters;
    bool reads_strictly;  // In a transaction of the user's, or to write.
  };
  /// A row that a command means.
  struct Found {
    std::uint64_t number;
    const Row* row;
  };

  void require_alive() const;
  void note_read(const std::shared_ptr<Table>& table, std::optional<Expression> where,
                 std::span<const db::Value> parameters);
  void require_no_failure(const Command& command);
  Result run(const Command& command, std::span<const db::Value> parameters);

  Result create(const CreateTable& create);
  Result drop(const DropTable& drop);
  Result insert(const Insert& insert, const Call& call);
  Result select(const Select& select, const Call& call);
  Result update(const Update& update, const Call& call);
  Result remove(const Delete& remove, const Call& call);
  Result set(const Set& set);
  Result show(const Show& show) const;
  Result control(const TransactionCommand& command);

  [[nodiscard]] Catalogue& catalogue_of(std::string_view table) noexcept;
  /// Null when there is none. Throws SqlError 40001 when another session has written it.
  /// That is, to a strict reader.
  [[nodiscard]] std::shared_ptr<Table> find_table(std::string_view name, bool strictly);
  /// Throws SqlError 42P01 when there is none.
  [[nodiscard]] std::shared_ptr<Table> table(std::string_view name, bool strictly = true);
  [[nodiscard]] std::vector<Found> find_rows(const std::shared_ptr<Table>& table,
                                             const std::optional<Expression>& where,
                                             const Call& call);
  void require_free_key(const std::shared_ptr<Table>& table, const Row& row,
                        std::optional<std::uint64_t> itself);
  void require_no_missing(const Table& table, const Row& row) const;
  void write_row(const std::shared_ptr<Table>& table, std::uint64_t row, std::optional<Row> now);
  void write_table(Catalogue& catalogue, const std::string& name, std::shared_ptr<Table> now);

  void commit();
  void roll_back_to(std::size_t undo_size) noexcept;
  void roll_back() noexcept;
  void end_transaction() noexcept;
  void doom_readers() noexcept;
  [[nodiscard]] bool has_read_what_changes(const Session& writer) const noexcept;

  Database* database_;  // Null when the session was ended.
  SessionId id_;
  db::TransactionState state_ = db::TransactionState::None;
  std::map<std::string, std::string, std::less<>> variables_;
  Catalogue temporary_;
  std::string last_error_ = "00000";

  // Of the transaction.
  std::vector<Undo> undo_;
  std::vector<Savepoint> savepoints_;
  std::vector<Read> reads_;
  bool doomed_ = false;  // Something that it has read is not so any more.
};

}  // namespace sql

}  // namespace fermata::sim
