// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/session.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/db/sql_text.hpp"

namespace fermata::db::detail {

namespace {

std::string name_of(std::uint64_t savepoint) { return fmt::format("fermata_{}", savepoint); }

/// The name of a command in the cache: its text, and the kinds of its parameters.
std::string name_of(std::string_view sql, Parameters parameters) {
  std::string name(sql);
  name += '\0';  // Which no text has.
  for (const Cell& each : parameters) name += static_cast<char>('a' + each.index());
  return name;
}

}  // namespace

Session::Session(std::shared_ptr<const std::string> database, Lease<Pooled> lease)
    : database_(std::move(database)), lease_(std::move(lease)) {}

// --- the connection's state ---

bool Session::is_pinned() const noexcept {
  if (lost_ || busy_ || answering_ || statements_ > 0) return true;
  return !lease_->connection->is_broken() && (in_transaction_ || (lease_->touched && !abandoned_));
}

void Session::require_usable() const {
  const auto misuse = [&](const char* what) {
    throw UsageError(fmt::format("database \"{}\": {}", *database_, what));
  };
  if (lost_) {
    throw TransactionLost(*database_, sqlstate::kConnectionLost,
                          "the connection was lost inside a transaction: expected its rollback");
  }
  if (!lease_) misuse("the connection has been given back: expected a statement in use");
  if (abandoned_)
    misuse("the transaction was abandoned: expected no further use of its statements");
  if (busy_) misuse("another coroutine uses this connection: expected one at a time");
  if (answering_) misuse("an answer is still being read: expected it read to its end, or dropped");
}

// Once the connection has gone inside a transaction, that stays so until the rollback.
void Session::see_state() noexcept {
  FERMATA_ASSERT(static_cast<bool>(lease_));
  const Connection& connection = *lease_->connection;
  if (connection.is_broken()) {
    lost_ = in_transaction_ && !abandoned_;
  } else {
    in_transaction_ = connection.transaction() != TransactionState::None && !abandoned_;
  }
}

template <class Call>
auto Session::guard(Call&& call) {
  busy_ = true;
  const auto end = [&](bool answered, ErrorState state) {
    busy_ = false;
    if (!answered) {
      answering_ = false;
      lease_->interrupted = true;
    }
    see_state();
    fail(state);
  };
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Call&>>) {
      call();
      busy_ = false;
    } else {
      auto result = call();
      busy_ = false;
      return result;
    }
  } catch (const DatabaseError& error) {
    answering_ = false;
    end(true, {error.sqlstate(), error.what()});
    throw;
  } catch (...) {
    end(false, {std::string(sqlstate::kFailed), message_of(std::current_exception())});
    throw;
  }
}

void Session::fail(const ErrorState& state) noexcept {
  answered_by_.prepared.reset();
  if (owner_ != nullptr) owner_->note(coroutine_, state);
  settle_quietly();
}

// What was left in the middle has to be over before anything else, and a savepoint that was left
// has to be rolled back to. The command that was interrupted may have begun a transaction, of which
// its coroutine does not know, or ended one.
void Session::get_ready() {
  FERMATA_ASSERT(lease_ && busy_);
  Connection& connection = *lease_->connection;
  if (lease_->interrupted) {
    protect([&] { lease_->interrupt(); });
    if (connection.is_broken()) {
      throw ConnectionLost(*database_, sqlstate::kConnectionLost,
                           "the connection did not survive a command that was interrupted");
    }
    const bool open = connection.transaction() != TransactionState::None;
    if (open && !in_transaction_) connection.rollback();
    in_transaction_ = in_transaction_ && open;
    if (!in_transaction_) roll_back_to_ = 0;
  }
  if (roll_back_to_ == 0) return;
  connection.run("ROLLBACK TO SAVEPOINT " + name_of(roll_back_to_));
  roll_back_to_ = 0;
}

template <class Call>
auto Session::use(Call&& call) {
  const auto pin = shared_from_this();
  require_usable();
  return guard([&] {
    get_ready();
    return call(*lease_->connection);
  });
}

void Session::unbind() noexcept {
  if (owner_ != nullptr) std::exchange(owner_, nullptr)->unbind(coroutine_);
}

void Session::settle() {
  if (!lease_ || is_pinned()) return;
  const auto pin = shared_from_this();
  unbind();
  Lease<Pooled> lease = std::move(lease_);
  const bool in_order = !lease->interrupted && !abandoned_ && !lease->connection->is_broken();
  if (in_order) lease.release();
}

void Session::settle_quietly() noexcept {
  if (!lease_ || is_pinned()) return;
  const auto pin = shared_from_this();
  unbind();
  const Lease<Pooled> dropped = std::move(lease_);
}

// --- commands ---

std::unique_ptr<Answer> Session::execute(std::string_view sql, Parameters parameters, Fetch fetch) {
  const bool touches = may_change_session(sql);
  return use([&](Connection& connection) {
    lease_->touched = lease_->touched || touches;
    // In a transaction a plan that has become stale would fail that.
    const bool again = fetch == Fetch::All && !touches && !in_transaction_;
    auto answer =
        again ? execute_again(sql, parameters) : connection.execute(sql, parameters, fetch);
    answering_ = true;
    return answer;
  });
}

std::unique_ptr<Answer> Session::execute_again(std::string_view sql, Parameters parameters) {
  FERMATA_ASSERT(busy_ && !in_transaction_);
  Connection& connection = *lease_->connection;
  StatementCache& cache = lease_->statements;
  if (cache.limit() == 0) return connection.execute(sql, parameters, Fetch::All);
  Kept kept{name_of(sql, parameters), nullptr};
  kept.prepared = cache.take(kept.name);
  if (kept.prepared == nullptr && cache.is_asked_again(kept.name)) {
    kept.prepared = connection.prepare_like(sql, parameters);
  }
  if (kept.prepared == nullptr) return connection.execute(sql, parameters, Fetch::All);
  std::unique_ptr<Answer> answer;
  try {
    answer = kept.prepared->execute(parameters);
  } catch (const DatabaseError& error) {
    if (!may_prepare_again(error)) throw;
  }
  if (answer == nullptr) {
    kept.prepared = connection.prepare_like(sql, parameters);
    answer = kept.prepared->execute(parameters);
  }
  answered_by_ = std::move(kept);
  return answer;
}

std::unique_ptr<Answer> Session::execute(Prepared& prepared, Parameters parameters) {
  return use([&](Connection&) {
    auto answer = prepared.execute(parameters);
    answering_ = true;
    return answer;
  });
}

// Whoever reads has the session.
bool Session::next(Answer& answer, std::vector<Cell>& row) {
  return guard([&] { return answer.next(row); });
}

void Session::end_answer() {
  FERMATA_ASSERT(lease_ && !busy_);
  const auto pin = shared_from_this();
  answering_ = false;
  if (answered_by_.prepared != nullptr) {
    lease_->statements.put(std::move(answered_by_.name), std::move(answered_by_.prepared));
  }
  see_state();
  if (owner_ != nullptr) owner_->note(coroutine_, {});
  settle();
}

void Session::abandon_answer() noexcept {
  FERMATA_ASSERT(static_cast<bool>(lease_));
  answering_ = false;
  answered_by_.prepared.reset();
  lease_->interrupted = true;
  settle_quietly();
}

std::unique_ptr<Prepared> Session::prepare(const std::string& sql) {
  const bool touches = may_change_session(sql);
  auto prepared = use([&](Connection& connection) {
    lease_->touched = lease_->touched || touches;
    auto cached = lease_->statements.take(sql);
    return cached != nullptr ? std::move(cached) : connection.prepare(sql);
  });
  ++statements_;
  return prepared;
}

std::unique_ptr<Prepared> Session::prepare_anew(const std::string& sql) {
  return use([&](Connection& connection) { return connection.prepare(sql); });
}

void Session::let_go(std::string sql, std::unique_ptr<Prepared> prepared) noexcept {
  FERMATA_ASSERT(lease_ && statements_ > 0);
  --statements_;
  if (prepared != nullptr && !lease_->connection->is_broken()) {
    lease_->statements.put(std::move(sql), std::move(prepared));
  }
  prepared.reset();
  settle_quietly();
}

bool Session::may_prepare_again(const DatabaseError& error) const {
  const Connection& connection = *lease_->connection;
  return !in_transaction_ && !connection.is_broken() && connection.is_stale_plan(error.sqlstate());
}

// --- transactions ---

void Session::begin() {
  require_usable();
  if (in_transaction_) {
    throw TransactionError(*database_, sqlstate::kActiveTransaction,
                           "There is already an active transaction");
  }
  use([&](Connection& connection) { connection.begin(); });
  see_state();
}

void Session::require_transaction() const {
  if (in_transaction_) return;
  throw TransactionError(*database_, sqlstate::kNoActiveTransaction,
                         "There is no active transaction");
}

void Session::commit() {
  const auto pin = shared_from_this();
  require_usable();
  require_transaction();
  const bool failed = use([&](Connection& connection) {
    require_transaction();
    // Some servers roll a failed transaction back and call that a success.
    const bool rolled_back = connection.transaction() == TransactionState::Failed;
    rolled_back ? connection.rollback() : connection.commit();
    return rolled_back;
  });
  end_transaction();
  if (failed) {
    throw QueryError(*database_, "25P02",
                     "a command of the transaction had failed: it was rolled back");
  }
}

void Session::rollback() {
  const auto pin = shared_from_this();
  roll_back_to_ = 0;
  if (std::exchange(lost_, false)) {
    in_transaction_ = false;
    return settle();
  }
  require_usable();
  require_transaction();
  use([&](Connection& connection) {
    if (in_transaction_) connection.rollback();
  });
  end_transaction();
}

void Session::end_transaction() {
  earlier_ = savepoints_;
  see_state();
  settle();
}

std::uint64_t Session::savepoint() {
  const std::uint64_t made = savepoints_ + 1;
  use([&](Connection& connection) { connection.run("SAVEPOINT " + name_of(made)); });
  return savepoints_ = made;
}

void Session::release(std::uint64_t savepoint) {
  FERMATA_ASSERT(savepoint > 0 && savepoint <= savepoints_);
  use([&](Connection& connection) { connection.run("RELEASE SAVEPOINT " + name_of(savepoint)); });
}

void Session::roll_back(std::uint64_t savepoint) {
  FERMATA_ASSERT(savepoint > 0 && savepoint <= savepoints_);
  use([&](Connection& connection) {
    connection.run("ROLLBACK TO SAVEPOINT " + name_of(savepoint));
  });
  see_state();
}

void Session::roll_back_later(std::uint64_t savepoint) noexcept {
  FERMATA_ASSERT(savepoint > 0 && savepoint <= savepoints_);
  if (in_transaction_ && savepoint > earlier_) roll_back_to_ = savepoint;
}

void Session::abandon_transaction() noexcept {
  if (!lease_ || !in_transaction_) return;
  const auto pin = shared_from_this();
  in_transaction_ = lost_ = false;
  abandoned_ = true;
  unbind();
  settle_quietly();
}

// --- the session at the server ---

void Session::reset() {
  const auto pin = shared_from_this();
  require_usable();
  if (in_transaction_) {
    throw TransactionError(*database_, sqlstate::kActiveTransaction,
                           "reset_session inside a transaction: expected it ended first");
  }
  ++resets_;
  use([&](Connection&) { lease_->reset(); });
  settle();
}

void Session::set_attribute(std::string_view name, std::string_view value) {
  use([&](Connection& connection) { connection.set_attribute(name, value); });
}

}  // namespace fermata::db::detail
