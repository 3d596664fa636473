// SPDX-License-Identifier: Apache-2.0
#pragma once

// A connection in the hands of one coroutine, or of the statements that a coroutine has left.
//
// Pinned      While a transaction is open or lost, a statement lives, an answer is being read, or
//             the session may have been changed. One that is not pinned goes back at once.
// Owners      The coroutine's binding, and each statement and answer. The last one to go gives the
//             connection back; what has to be done with it then is the pool's (DB-06, DB-08).
// Source      Release decisions: DB-04 to DB-11.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "fermata/db/driver.hpp"
#include "fermata/db/errors.hpp"
#include "fermata/db/options.hpp"
#include "fermata/db/pooled.hpp"
#include "fermata/sync/pool.hpp"

namespace fermata::db::detail {

/// The owner that has bound a session to a coroutine.
class SessionOwner {
 public:
  /// The coroutine's next command gets another session. Neither suspends nor throws.
  virtual void unbind(std::uint64_t coroutine) noexcept = 0;
  /// How the last command of the coroutine has ended.
  virtual void note(std::uint64_t coroutine, ErrorState state) noexcept = 0;

 protected:
  ~SessionOwner() = default;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(std::shared_ptr<const std::string> database, Lease<Pooled> lease);

  void bind(SessionOwner& owner, std::uint64_t coroutine) noexcept {
    owner_ = &owner;
    coroutine_ = coroutine;
  }
  /// From now on it belongs to its statements alone.
  void detach() noexcept { owner_ = nullptr; }

  // --- commands: each may suspend ---

  /// Executes a command. The reader of the answer calls end_answer() or abandon_answer().
  [[nodiscard]] std::unique_ptr<Answer> execute(std::string_view sql, Parameters parameters,
                                                Fetch fetch);
  [[nodiscard]] std::unique_ptr<Answer> execute(Prepared& prepared, Parameters parameters);
  bool next(Answer& answer, std::vector<Cell>& row);
  void end_answer();
  void abandon_answer() noexcept;

  /// From the connection's cache or the server; keeps the session pinned until let_go.
  [[nodiscard]] std::unique_ptr<Prepared> prepare(const std::string& sql);
  /// In place of one that the server has forgotten.
  [[nodiscard]] std::unique_ptr<Prepared> prepare_anew(const std::string& sql);
  void let_go(std::string sql, std::unique_ptr<Prepared> prepared) noexcept;
  /// Whether a command that has failed with `error` may be prepared anew and tried again.
  [[nodiscard]] bool may_prepare_again(const DatabaseError& error) const;

  void begin();
  void commit();
  /// Ends a lost transaction too.
  void rollback();
  /// Open, failed or lost.
  [[nodiscard]] bool in_transaction() const noexcept { return in_transaction_; }
  /// Makes one and returns its number.
  [[nodiscard]] std::uint64_t savepoint();
  void release(std::uint64_t savepoint);
  void roll_back(std::uint64_t savepoint);
  /// Before the next command the transaction goes back to `savepoint`, if it is its own.
  void roll_back_later(std::uint64_t savepoint) noexcept;
  /// The coroutine has nothing more to do with the transaction, which is rolled back once the last
  /// statement has gone. Neither suspends nor throws.
  void abandon_transaction() noexcept;

  void reset();
  /// Number of resets; each invalidates what was prepared before.
  [[nodiscard]] std::uint64_t resets() const noexcept { return resets_; }
  void set_attribute(std::string_view name, std::string_view value);

  [[nodiscard]] const std::string& database() const noexcept { return *database_; }

 private:
  /// A prepared command, by its name in the connection's cache.
  struct Kept {
    std::string name;
    std::unique_ptr<Prepared> prepared;
  };

  /// Runs a command like the connection's execute(); uses a prepared command when the session has
  /// run one like it before.
  [[nodiscard]] std::unique_ptr<Answer> execute_again(std::string_view sql, Parameters parameters);
  [[nodiscard]] bool is_pinned() const noexcept;
  void end_transaction();
  void require_transaction() const;
  void require_usable() const;
  /// Runs `call` on the connection, once that is ready for it.
  template <class Call>
  auto use(Call&& call);
  /// Runs `call`, and looks what has become of the connection.
  template <class Call>
  auto guard(Call&& call);
  void get_ready();
  void see_state() noexcept;
  void fail(const ErrorState& state) noexcept;
  /// Gives an unpinned connection back: at once when it is in order, else in the background.
  void settle();
  void settle_quietly() noexcept;
  void unbind() noexcept;

  std::shared_ptr<const std::string> database_;
  SessionOwner* owner_ = nullptr;  // Null once detached.
  std::uint64_t coroutine_ = 0;
  Lease<Pooled> lease_;
  Kept answered_by_;  // Back to the cache with the end of its answer.
  std::size_t statements_ = 0;
  std::uint64_t savepoints_ = 0;    // Made so far.
  std::uint64_t earlier_ = 0;       // Of them, in transactions that have ended.
  std::uint64_t roll_back_to_ = 0;  // 0: nowhere.
  std::uint64_t resets_ = 0;
  bool busy_ = false;       // In a call of the driver's.
  bool answering_ = false;  // An answer is being read.
  bool in_transaction_ = false;
  bool lost_ = false;       // The connection, with a transaction open.
  bool abandoned_ = false;  // The transaction is to be rolled back when the connection goes back.
};

}  // namespace fermata::db::detail
