// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/odbc/connection.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fermata/base/assert.hpp"
#include "fermata/db/errors.hpp"
#include "fermata/db/odbc/attributes.hpp"
#include "fermata/db/odbc/connection_string.hpp"

namespace fermata::db::odbc {

namespace {

constexpr Duration kStopLimit = std::chrono::seconds(5);
constexpr std::string_view kGone = "26000";
constexpr std::string_view kTransactionFailed = "25P02";
constexpr std::string_view kNotImplemented = "HYC00";

class OdbcAnswer final : public Answer {
 public:
  OdbcAnswer(OdbcConnection& connection, std::shared_ptr<Statement> statement, Batch batch,
             Fetch fetch)
      : connection_(connection),
        statement_(std::move(statement)),
        batch_(std::move(batch)),
        fetch_(fetch) {
    for (const Column& column : statement_->columns()) names_.push_back(column.name);
  }

  const std::vector<std::string>& columns() const noexcept override { return names_; }

  bool next(std::vector<Cell>& row) override {
    while (position_ == batch_.cells.size()) {
      if (batch_.last) return false;
      batch_ = connection_.fetch(statement_, fetch_);
      position_ = 0;
    }
    FERMATA_ASSERT(batch_.cells.size() - position_ >= names_.size());
    row.resize(names_.size());
    for (Cell& cell : row) cell = view(batch_.cells[position_++]);
    return true;
  }

  const Effect& effect() const noexcept override {
    FERMATA_ASSERT(batch_.last && position_ == batch_.cells.size());
    return batch_.effect;
  }

 private:
  OdbcConnection& connection_;
  std::shared_ptr<Statement> statement_;
  std::vector<std::string> names_;
  Batch batch_;
  std::size_t position_ = 0;
  Fetch fetch_;
};

/// The answer to a command that was not sent as it is.
class NothingMore final : public Answer {
 public:
  const std::vector<std::string>& columns() const noexcept override { return names_; }
  bool next(std::vector<Cell>&) override { return false; }
  const Effect& effect() const noexcept override { return effect_; }

 private:
  std::vector<std::string> names_;
  Effect effect_;
};

class OdbcPrepared final : public Prepared {
 public:
  OdbcPrepared(OdbcConnection& connection, std::shared_ptr<Statement> statement,
               Placeholders command, TransactionWords words)
      : connection_(connection),
        statement_(std::move(statement)),
        command_(std::move(command)),
        words_(words) {}

  std::size_t parameter_count() const noexcept override { return command_.count; }

  std::unique_ptr<Answer> execute(Parameters parameters) override {
    connection_.check(words_, statement_.get());
    return connection_.start(statement_,
                             BoundParameters(command_, parameters, connection_.database()), words_,
                             Fetch::ByRows);
  }

 private:
  OdbcConnection& connection_;
  std::shared_ptr<Statement> statement_;
  Placeholders command_;
  TransactionWords words_;
};

}  // namespace

OdbcConnection::OdbcConnection(Target target)
    : target_(std::move(target)), session_(Session::make(target_.text())) {}

OdbcConnection::~OdbcConnection() {
  if (!worker_.is_busy() || !session_->is_connected()) return;
  session_->set_stopping(true);
  try {
    worker_.stop([session = session_] { session->cancel(); });
  } catch (...) {  // NOLINT(bugprone-empty-catch): it ends by itself, or with the process
  }
}

void OdbcConnection::connect(std::shared_ptr<Session> session,
                             std::shared_ptr<Session> instead_of) {
  worker_.run([session = std::move(session), instead_of = std::move(instead_of),
               text = connection_string(target_), secret = passwords(target_)] {
    session->connect(text, secret);
    if (instead_of) instead_of->disconnect();
  });
}

void OdbcConnection::check(const TransactionWords& words, const Statement* statement) const {
  const Session& session = *session_;
  if (session.is_broken()) {
    throw ConnectionLost(database(), sqlstate::kConnectionLost, "the connection is lost");
  }
  const bool ends = words.step == TransactionStep::Commit ||
                    words.step == TransactionStep::Rollback || words.returns_to_savepoint;
  if (session.transaction() == TransactionState::Failed && !ends) {
    throw QueryError(database(), kTransactionFailed,
                     "the transaction has failed, it can only be rolled back");
  }
  if (statement != nullptr && &statement->session() != &session) {
    throw QueryError(database(), kGone, "the prepared command was closed with its session");
  }
}

std::unique_ptr<Answer> OdbcConnection::execute(std::string_view sql, Parameters parameters,
                                                Fetch fetch) {
  const TransactionWords words = transaction_words(sql);
  check(words);
  Placeholders command = positional_command(sql, database());
  BoundParameters bound(command, parameters, database());
  const bool commits = words.step == TransactionStep::Commit;
  const bool ends = commits || words.step == TransactionStep::Rollback;
  const bool must_not_commit = commits && transaction() == TransactionState::Failed;
  if (ends && words.alone && (session_->is_manual() || must_not_commit)) {
    end(commits);
    return std::make_unique<NothingMore>();
  }
  return start(std::make_shared<Statement>(session_, std::move(command.sql)), std::move(bound),
               words, fetch);
}

std::unique_ptr<Prepared> OdbcConnection::prepare(std::string_view sql) {
  const TransactionWords words = transaction_words(sql);
  check(words);
  Placeholders command = positional_command(sql, database());
  auto statement = std::make_shared<Statement>(session_, command.sql);
  worker_.run([statement] { statement->prepare(); });
  return std::make_unique<OdbcPrepared>(*this, std::move(statement), std::move(command), words);
}

std::unique_ptr<Answer> OdbcConnection::start(std::shared_ptr<Statement> statement,
                                              BoundParameters parameters,
                                              const TransactionWords& words, Fetch fetch) {
  current_ = statement;
  Batch batch =
      worker_.run([statement, parameters = std::move(parameters), words, fetch]() mutable {
        return statement->execute(parameters, words, fetch);
      });
  return std::make_unique<OdbcAnswer>(*this, std::move(statement), std::move(batch), fetch);
}

Batch OdbcConnection::fetch(const std::shared_ptr<Statement>& statement, Fetch fetch) {
  return worker_.run([statement, fetch] { return statement->fetch(fetch); });
}

bool OdbcConnection::is_stale_plan(std::string_view sqlstate) const noexcept {
  // What PostgreSQL says of a plan, and everybody of a statement that there is not.
  return sqlstate == "0A000" || sqlstate == kGone;
}

void OdbcConnection::begin() {
  check({});
  if (transaction() != TransactionState::None) {
    throw QueryError(database(), sqlstate::kActiveTransaction, "a transaction is open already");
  }
  worker_.run([session = session_] { session->begin(); });
}

void OdbcConnection::end(bool commit) {
  const TransactionStep step = commit ? TransactionStep::Commit : TransactionStep::Rollback;
  check({.step = step});
  const TransactionState before = transaction();
  if (before == TransactionState::None) {
    throw QueryError(database(), sqlstate::kNoActiveTransaction, "no transaction is open");
  }
  const bool failed = before == TransactionState::Failed;
  if (session_->is_manual()) {
    worker_.run([session = session_, commit = commit && !failed] { session->end(commit); });
  } else {
    run(commit && !failed ? "COMMIT" : "ROLLBACK");
  }
  if (commit && failed) {
    throw QueryError(database(), kTransactionFailed,
                     "the transaction had failed, it was rolled back");
  }
}

void OdbcConnection::ping() {
  check({.step = TransactionStep::Rollback});
  try {
    run("SELECT 1");
  } catch (const QueryError&) {  // NOLINT(bugprone-empty-catch): whatever it says, it has answered
  }
}

void OdbcConnection::reset_session() {
  check({.step = TransactionStep::Rollback});
  fresh_ = Session::make(target_.text());
  connect(fresh_, session_);
  session_ = std::move(fresh_);
}

void OdbcConnection::set_attribute(std::string_view name, std::string_view value) {
  check({});
  const std::string product = worker_.run([session = session_] { return session->product(); });
  const std::optional<AttributeCommand> command = attribute_command(product, name, value);
  if (!command) {
    throw QueryError(
        database(), kNotImplemented,
        fmt::format("attribute \"{}\": cannot be set to this value at {}", name, product));
  }
  const std::unique_ptr<Answer> answer = execute(command->sql, command->parameters, Fetch::All);
  std::vector<Cell> row;
  while (answer->next(row)) {
  }
}

void OdbcConnection::interrupt() {
  if (is_broken() && !fresh_) return;
  const Instant limit = now() + kStopLimit;
  session_->set_stopping(true);
  const bool stopped = worker_.stop_until(limit, [session = session_] { session->cancel(); });
  session_->set_stopping(false);
  if (!stopped) session_->set_broken();
  const std::shared_ptr<Session> fresh = std::move(fresh_);
  if (fresh && stopped && fresh->is_connected() && !session_->is_connected()) session_ = fresh;
  if (is_broken()) return;
  try {
    worker_.run(
        [session = session_, current = current_.lock()] {
          if (current) current->close();
          session->free_retired();
        },
        {.timeout = std::max(limit - now(), Duration::zero()), .token = nullptr});
  } catch (const Timeout&) {
    session_->set_broken();
  }
}

}  // namespace fermata::db::odbc
