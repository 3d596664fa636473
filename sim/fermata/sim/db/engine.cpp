// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/db/engine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fermata/sim/db/evaluate.hpp"
#include "fermata/sim/db/sql_error.hpp"

namespace fermata::sim {

Database::~Database() { end_sessions(); }

bool Database::lets_in(std::string_view user, std::string_view password) const {
  if (passwords_.empty()) return true;
  const auto found = passwords_.find(user);
  return found != passwords_.end() && found->second == password;
}

void Database::end_sessions() noexcept {
  for (const auto& [id, session] : sessions_) {
    session->roll_back();
    session->database_ = nullptr;
  }
  sessions_.clear();
}

std::size_t Database::transaction_count() const noexcept {
  return static_cast<std::size_t>(std::count_if(
      sessions_.begin(), sessions_.end(),
      [](const auto& each) { return each.second->transaction() != db::TransactionState::None; }));
}

namespace sql {

namespace {

using db::TransactionState;

[[noreturn]] void conflict() {
  throw SqlError("40001", "could not serialize access due to a concurrent transaction");
}

/// The table that `command` is about; empty for none, and for one that it makes or drops.
std::string_view table_of(const Command& command) {
  if (const auto* insert = std::get_if<Insert>(&command.statement)) return insert->table;
  if (const auto* select = std::get_if<Select>(&command.statement)) return select->table;
  if (const auto* update = std::get_if<Update>(&command.statement)) return update->table;
  if (const auto* remove = std::get_if<Delete>(&command.statement)) return remove->table;
  return {};
}

bool is_action(const Command& command, std::initializer_list<TransactionCommand::Action> actions) {
  const auto* const control = std::get_if<TransactionCommand>(&command.statement);
  return control != nullptr &&
         std::find(actions.begin(), actions.end(), control->action) != actions.end();
}

}  // namespace

Session::Session(Database& database) : database_(&database), id_(++database.sessions_made_) {
  database.sessions_.emplace(id_, this);
}

Session::~Session() {
  if (database_ == nullptr) return;
  roll_back();
  database_->sessions_.erase(id_);
}

void Session::require_alive() const {
  if (database_ == nullptr) throw SqlError("57P01", "the server was restarted");
}

void Session::require_no_failure(const Command& command) {
  using Action = TransactionCommand::Action;
  const bool ends = is_action(command, {Action::Commit, Action::Rollback});
  if (doomed_ && !ends) conflict();
  if (state_ == TransactionState::Failed && !ends && !is_action(command, {Action::RollbackTo})) {
    throw SqlError("25P02", "current transaction is aborted, commands are ignored until its end");
  }
}

Plan Session::plan(std::string_view sql) {
  require_alive();
  try {
    Plan plan{parse(sql)};
    require_no_failure(plan.command);
    if (const std::string_view name = table_of(plan.command); !name.empty()) {
      plan.table = table(name, false)->id;
    }
    return plan;
  } catch (const SqlError& error) {
    fail(error.sqlstate());
    throw;
  }
}

std::shared_ptr<const Table> Session::planned_table(const Plan& plan) {
  return plan.table == 0 ? nullptr : find_table(table_of(plan.command), false);
}

Result Session::execute(const Plan& plan, std::span<const db::Value> parameters) {
  require_alive();
  try {
    if (parameters.size() != plan.command.parameter_count) {
      throw SqlError("07001", fmt::format("{} parameters, expected {}", parameters.size(),
                                          plan.command.parameter_count));
    }
    require_no_failure(plan.command);
    if (plan.table != 0 && table(table_of(plan.command), false)->id != plan.table) {
      throw SqlError("0A000", "the table is another one than when the command was prepared");
    }
    Result result = run(plan.command, parameters);
    if (!std::holds_alternative<Show>(plan.command.statement)) last_error_ = "00000";
    return result;
  } catch (const SqlError& error) {
    fail(error.sqlstate());
    throw;
  }
}

Duration Session::duration(const Plan& plan, std::span<const db::Value> parameters) const {
  Duration sum{};
  const auto* const select = std::get_if<Select>(&plan.command.statement);
  if (select == nullptr || !select->table.empty()) return sum;
  for (const SelectItem& item : select->items) {
    const Expression& expression = item.expression;
    if (!is_sleep(expression) || expression.operands.size() != 1) continue;
    constexpr double kSecondsMax = 86'400;
    try {
      const db::Value given = evaluate(expression.operands[0], {parameters, id_});
      const db::Value sum_of_it = add(given, db::Value(0.0));
      const double* const seconds = std::get_if<double>(&sum_of_it);
      if (seconds == nullptr || !(*seconds > 0)) continue;
      sum += Duration(static_cast<std::int64_t>(std::min(*seconds, kSecondsMax) * 1e9));
    } catch (const SqlError&) {  // The command itself will say so.
    }
  }
  return sum;
}

void Session::fail(std::string_view sqlstate) {
  last_error_ = sqlstate;
  if (state_ == TransactionState::Open) state_ = TransactionState::Failed;
}

void Session::reset() {
  require_alive();
  if (state_ != TransactionState::None) {
    fail("25001");
    throw SqlError("25001", "a session cannot be reset in a transaction");
  }
  variables_.clear();
  temporary_.clear();
  last_error_ = "00000";
}

Result Session::run(const Command& command, std::span<const db::Value> parameters) {
  if (const auto* control_command = std::get_if<TransactionCommand>(&command.statement)) {
    return control(*control_command);
  }
  const bool alone = state_ == TransactionState::None;
  const Call call{parameters, !alone || !std::holds_alternative<Select>(command.statement)};
  struct Runner {
    Session& session;
    const Call& call;
    Result operator()(const CreateTable& create) const { return session.create(create); }
    Result operator()(const DropTable& drop) const { return session.drop(drop); }
    Result operator()(const Insert& insert) const { return session.insert(insert, call); }
    Result operator()(const Select& select) const { return session.select(select, call); }
    Result operator()(const Update& update) const { return session.update(update, call); }
    Result operator()(const Delete& remove) const { return session.remove(remove, call); }
    Result operator()(const TransactionCommand&) const { return {}; }
    Result operator()(const Set& set) const { return session.set(set); }
    Result operator()(const Show& show) const { return session.show(show); }
  };
  try {
    Result result = std::visit(Runner{*this, call}, command.statement);
    if (alone) commit();
    return result;
  } catch (...) {
    if (alone) roll_back();
    throw;
  }
}

Result Session::control(const TransactionCommand& command) {
  using Action = TransactionCommand::Action;
  const Action action = command.action;
  if (action == Action::Begin) {
    if (state_ != TransactionState::None) {
      throw SqlError("25001", "there is already a transaction in progress");
    }
    state_ = TransactionState::Open;
    return {};
  }
  if (state_ == TransactionState::None) {
    throw SqlError("25P01", "there is no transaction in progress");
  }
  if (action == Action::Commit && state_ == TransactionState::Open) {
    commit();
  } else if (action == Action::Commit || action == Action::Rollback) {
    roll_back();
  } else if (action == Action::Savepoint) {
    savepoints_.push_back({command.savepoint, undo_.size()});
  } else {
    const auto found =
        std::find_if(savepoints_.rbegin(), savepoints_.rend(),
                     [&](const Savepoint& each) { return each.name == command.savepoint; });
    if (found == savepoints_.rend()) {
      throw SqlError("3B001", fmt::format("savepoint \"{}\" does not exist", command.savepoint));
    }
    const auto after = found.base();
    if (action == Action::Release) {
      savepoints_.erase(std::prev(after), savepoints_.end());
    } else {
      roll_back_to(found->undo_size);
      savepoints_.erase(after, savepoints_.end());
      state_ = TransactionState::Open;
    }
  }
  return {};
}

Result Session::set(const Set& set) {
  const auto found = variables_.find(set.name);
  Undo undo;
  undo.name = set.name;
  if (found != variables_.end()) undo.variable_before = found->second;
  undo_.push_back(std::move(undo));
  variables_.insert_or_assign(set.name, set.value);
  return {};
}

Result Session::show(const Show& show) const {
  if (show.name == "last_error") return {{show.name}, {{last_error_}}};
  const auto found = variables_.find(show.name);
  if (found == variables_.end()) {
    throw SqlError("42704", fmt::format("unrecognized parameter \"{}\"", show.name));
  }
  return {{show.name}, {{found->second}}};
}

// --- what a transaction has written and read ---

void Session::write_row(const std::shared_ptr<Table>& table, std::uint64_t row,
                        std::optional<Row> now) {
  Versions<std::optional<Row>>& versions = table->rows[row];
  Undo undo;
  undo.table = table;
  undo.row = row;
  undo.writer = std::exchange(versions.writer, id_);
  undo.row_before = std::exchange(versions.pending, std::move(now));
  undo_.push_back(std::move(undo));
}

void Session::write_table(Catalogue& catalogue, const std::string& name,
                          std::shared_ptr<Table> now) {
  Versions<std::shared_ptr<Table>>& versions = catalogue[name];
  Undo undo;
  undo.catalogue = &catalogue;
  undo.name = name;
  undo.writer = std::exchange(versions.writer, id_);
  undo.table_before = std::exchange(versions.pending, std::move(now));
  undo_.push_back(std::move(undo));
}

void Session::note_read(const std::shared_ptr<Table>& table, std::optional<Expression> where,
                        std::span<const db::Value> parameters) {
  if (state_ != TransactionState::Open) return;
  reads_.push_back({table, std::move(where), {parameters.begin(), parameters.end()}});
}

void Session::commit() {
  if (doomed_ && !undo_.empty()) {
    roll_back();
    conflict();
  }
  doom_readers();
  for (const Undo& undo : undo_) {
    if (undo.catalogue != nullptr) {
      const auto found = undo.catalogue->find(undo.name);
      if (found == undo.catalogue->end() || found->second.writer != id_) continue;
      found->second = {std::move(found->second.pending), nullptr, kNobody};
      if (found->second.committed == nullptr) undo.catalogue->erase(found);
    } else if (undo.table != nullptr) {
      const auto found = undo.table->rows.find(undo.row);
      if (found == undo.table->rows.end() || found->second.writer != id_) continue;
      found->second = {std::move(found->second.pending), std::nullopt, kNobody};
      if (!found->second.committed) undo.table->rows.erase(found);
    }
  }
  end_transaction();
}

void Session::roll_back_to(std::size_t undo_size) noexcept {
  while (undo_.size() > undo_size) {
    Undo& undo = undo_.back();
    if (undo.catalogue != nullptr) {
      const auto found = undo.catalogue->find(undo.name);
      found->second.writer = undo.writer;
      found->second.pending = std::move(undo.table_before);
      if (undo.writer == kNobody && found->second.committed == nullptr) {
        undo.catalogue->erase(found);
      }
    } else if (undo.table != nullptr) {
      const auto found = undo.table->rows.find(undo.row);
      found->second.writer = undo.writer;
      found->second.pending = std::move(undo.row_before);
      if (undo.writer == kNobody && !found->second.committed) undo.table->rows.erase(found);
    } else if (undo.variable_before) {
      variables_[undo.name] = std::move(*undo.variable_before);
    } else {
      variables_.erase(undo.name);
    }
    undo_.pop_back();
  }
}

void Session::roll_back() noexcept {
  roll_back_to(0);
  end_transaction();
}

void Session::end_transaction() noexcept {
  undo_.clear();
  savepoints_.clear();
  reads_.clear();
  doomed_ = false;
  state_ = TransactionState::None;
}

void Session::doom_readers() noexcept {
  for (const auto& [id, session] : database_->sessions_) {
    if (session != this && !session->doomed_) {
      session->doomed_ = session->has_read_what_changes(*this);
    }
  }
}

bool Session::has_read_what_changes(const Session& writer) const noexcept {
  const auto meant = [this](const Read& read, const std::optional<Row>& row) {
    if (!row) return false;
    try {
      return holds(
          read.where,
          {.parameters = read.parameters, .session = id_, .table = read.table.get(), .row = &*row});
    } catch (const SqlError&) {
      return true;
    }
  };
  const auto touches = [&](const Read& read, const Undo& undo) {
    if (undo.catalogue != nullptr) {
      const auto found = undo.catalogue->find(undo.name);
      return found != undo.catalogue->end() && found->second.committed == read.table;
    }
    if (undo.table != read.table) return false;
    const auto found = undo.table->rows.find(undo.row);
    return found != undo.table->rows.end() &&
           (meant(read, found->second.committed) || meant(read, found->second.pending));
  };
  return std::any_of(reads_.begin(), reads_.end(), [&](const Read& read) {
    return std::any_of(writer.undo_.begin(), writer.undo_.end(),
                       [&](const Undo& undo) { return touches(read, undo); });
  });
}

}  // namespace sql

}  // namespace fermata::sim
