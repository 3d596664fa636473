// SPDX-License-Identifier: Apache-2.0
#include "properties/subjects/wired_database.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "fermata/core/suspend.hpp"
#include "fermata/db/errors.hpp"
#include "fermata/sim/db/wire.hpp"

namespace fermata::properties {
namespace {

using models::ConnectionsModel;
using sim::wire::Frame;
using sim::wire::Kind;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint16_t kPort = 5000;
constexpr std::string_view kStopped = "57014";
constexpr std::string_view kUnknownSetting = "42704";
constexpr std::string_view kFailedTransaction = "25P02";

/// What a connection may not survive, or keeps one from coming about.
constexpr std::array kBreaking = {
    sim::Fault::Reset, sim::Fault::Refused,          sim::Fault::Hung,
    sim::Fault::Clog,  sim::Fault::Partition,        sim::Fault::Crash,
    sim::Fault::Pause, sim::Fault::OutOfDescriptors, sim::Fault::DnsFailure};

class WiredConnection final : public db::Connection {
 public:
  WiredConnection(std::shared_ptr<WiredDatabase> database, int id,
                  std::unique_ptr<db::Connection> inner)
      : database_(std::move(database)), id_(id), inner_(std::move(inner)) {}
  ~WiredConnection() override {
    inner_.reset();
    database_->ended(id_);
  }

  std::unique_ptr<db::Answer> execute(std::string_view sql, db::Parameters parameters,
                                      db::Fetch fetch) override {
    return call(
        [&] { return std::make_unique<Answer>(*this, inner_->execute(sql, parameters, fetch)); });
  }
  std::unique_ptr<db::Prepared> prepare(std::string_view sql) override {
    return call([&] { return std::make_unique<Command>(*this, inner_->prepare(sql)); });
  }
  std::unique_ptr<db::Prepared> prepare_like(std::string_view sql, db::Parameters) override {
    return prepare(sql);
  }
  bool is_stale_plan(std::string_view sqlstate) const noexcept override {
    return inner_->is_stale_plan(sqlstate);
  }

  db::TransactionState transaction() const noexcept override { return inner_->transaction(); }
  bool is_broken() const noexcept override { return inner_->is_broken(); }
  bool looks_alive() noexcept override { return inner_->looks_alive(); }
  void ping() override {
    call([&] { inner_->ping(); });
  }
  void reset_session() override {
    call([&] { inner_->reset_session(); });
  }
  void set_attribute(std::string_view name, std::string_view value) override {
    call([&] { inner_->set_attribute(name, value); });
  }
  void interrupt() override {
    database_->commands.stopping(id_);
    call([&] { inner_->interrupt(); });
    if (inner_->is_broken()) return;
    unread_ = false;
    database_->commands.in_order(id_);
  }

 private:
  class Answer final : public db::Answer {
   public:
    Answer(WiredConnection& connection, std::unique_ptr<db::Answer> inner)
        : connection_(connection), inner_(std::move(inner)) {}
    ~Answer() override {
      if (!ended_) connection_.unread_ = true;
    }
    const std::vector<std::string>& columns() const noexcept override { return inner_->columns(); }
    bool next(std::vector<db::Cell>& row) override {
      const bool found = connection_.call([&] { return inner_->next(row); });
      ended_ = !found;
      return found;
    }
    const db::Effect& effect() const noexcept override { return inner_->effect(); }

   private:
    WiredConnection& connection_;
    std::unique_ptr<db::Answer> inner_;
    bool ended_ = false;
  };

  class Command final : public db::Prepared {
   public:
    Command(WiredConnection& connection, std::unique_ptr<db::Prepared> inner)
        : connection_(connection), inner_(std::move(inner)) {}
    std::size_t parameter_count() const noexcept override { return inner_->parameter_count(); }
    std::unique_ptr<db::Answer> execute(db::Parameters parameters) override {
      return connection_.call(
          [&] { return std::make_unique<Answer>(connection_, inner_->execute(parameters)); });
    }

   private:
    WiredConnection& connection_;
    std::unique_ptr<db::Prepared> inner_;
  };

  /// A call of the driver's.
  template <class Action>
  std::invoke_result_t<Action&> call(Action action) {
    ConnectionsModel::Traces left = database_->commands.traces(id_);
    left.unread = unread_;
    const WatchedCall watched(*database_, id_, left);
    try {
      return action();
    } catch (const db::DatabaseError&) {
      if (inner_->is_broken()) database_->connections.broke(id_);
      throw;
    } catch (...) {
      unread_ = true;
      throw;
    }
  }

  std::shared_ptr<WiredDatabase> database_;
  int id_;
  std::unique_ptr<db::Connection> inner_;
  bool unread_ = false;  // Somebody has left before the end of his answer.
};

class WiredDriver final : public db::Driver {
 public:
  WiredDriver(std::shared_ptr<WiredDatabase> database, std::unique_ptr<db::Driver> inner)
      : database_(std::move(database)), inner_(std::move(inner)) {}
  void check(const db::Target& target) const override { inner_->check(target); }
  std::unique_ptr<db::Connection> connect(db::Target target) override {
    const int id = database_->connecting();
    target.user = std::to_string(id);
    try {
      return std::make_unique<WiredConnection>(database_, id, inner_->connect(std::move(target)));
    } catch (...) {
      database_->connections.refused(id);
      throw;
    }
  }

 private:
  std::shared_ptr<WiredDatabase> database_;
  std::unique_ptr<db::Driver> inner_;
};

}  // namespace

WiredDatabase::WiredDatabase(Stage& stage, bool stopping_spoils)
    : WatchedDatabase(stage), stopping_spoils_(stopping_spoils), books_("books") {
  sim::sql::Session session(books_);
  session.execute("CREATE TABLE book (transfer BIGINT, amount BIGINT)");
  session.execute("CREATE TABLE digit (n BIGINT)");
  for (int i = 0; i < kDigits; ++i)
    session.execute(fmt::format("INSERT INTO digit VALUES ({})", i));
}

void WiredDatabase::serve(const std::shared_ptr<WiredDatabase>& self) {
  constexpr std::array kLatencies = {milliseconds(0), milliseconds(2), milliseconds(5),
                                     milliseconds(20)};
  const sim::DatabaseServerOptions options{.latency_max = kLatencies[self->shape_[2] % 4u],
                                           .tap = self};
  sim::Node& machine = self->stage_->world().service("db", [self, options] {
    sim::run_database(self->books_, {"0.0.0.0", kPort}, options);
  });
  self->machine_ = &machine;
  if (self->shape_[1] >= 4) machine.may_crash().may_pause();
}

void WiredDatabase::choose(db::DatabaseOptions& options) const {
  if (shape_[2] >= 4) options.health_check_interval = seconds(25);
}

// A command that was stopped in a transaction has spoilt that.
bool WiredDatabase::may_fail(const db::DatabaseError& error, bool half_way) const {
  if (dynamic_cast<const db::QueryError*>(&error) != nullptr) {
    const std::string& state = error.sqlstate();
    return half_way && (state == kFailedTransaction || state == kNoTransaction);
  }
  return !sent_away_.empty() || breaks();
}

bool WiredDatabase::may_cost(int connection) const {
  return sent_away_.count(connection) > 0 || breaks();
}

bool WiredDatabase::breaks() const {
  return std::any_of(kBreaking.begin(), kBreaking.end(),
                     [&](sim::Fault fault) { return stage_->struck(fault); });
}

std::optional<std::int64_t> WiredDatabase::mark(db::Database& database) const {
  if (database.in_transaction()) return {};  // Who asks for what there is not spoils it.
  try {
    return std::stoll(database.query_one<std::string>("SHOW mark"));
  } catch (const db::QueryError& error) {
    if (error.sqlstate() != kUnknownSetting) throw;
    return 0;
  }
}

void WiredDatabase::settle() {
  stage_->world().heal();
  if (!machine_->is_up()) stage_->world().at(Duration::zero(), [this] { machine_->restart(); });
  delay(seconds(300));
}

void WiredDatabase::end() {
  sim::sql::Session session(books_);
  for (const sim::sql::Row& row : session.execute("SELECT transfer, amount FROM book").rows) {
    transfers.booked(std::get<std::int64_t>(row[0]), std::get<std::int64_t>(row[1]));
  }
}

void WiredDatabase::asked(std::uint64_t client, const Frame& frame) {
  sim::wire::Reader fields(frame.fields);
  const auto command = [&](std::string text) {
    commands.asked(client, connections.last_user(connection_of_[client]), std::move(text));
  };
  switch (frame.kind) {
    case Kind::Startup:
      connection_of_[client] = std::stoi(std::string(fields.text()));
      return;
    case Kind::Cancel: {
      const std::uint64_t session = fields.u64();
      return complain(commands.asked_to_stop(session, fields.u64()));
    }
    case Kind::Execute:
      return command(std::string(fields.text()));
    case Kind::Prepare:
      return command("PREPARE");
    case Kind::ExecutePrepared:
      return command("EXECUTE");
    case Kind::Reset:
      return command(models::CommandsModel::kReset);
    case Kind::Sync:
      return command("SYNC");
    default:
      return;
  }
}

void WiredDatabase::answered(std::uint64_t client, const Frame& frame) {
  sim::wire::Reader fields(frame.fields);
  switch (frame.kind) {
    case Kind::Ready: {
      const std::uint64_t session = fields.u64();
      return commands.let_in(client, connection_of_[client], session, fields.u64());
    }
    case Kind::Error: {
      const bool farewell = fields.u8() != 0;
      const std::string_view sqlstate = fields.text();
      if (sqlstate == kStopped) complain(commands.stopped(client));
      if (!farewell) return answered(client, false, frame);
      sent_away_.insert(connection_of_[client]);
      return;
    }
    case Kind::Done:
    case Kind::Prepared:
    case Kind::Synced:
      return answered(client, true, frame);
    default:
      return;
  }
}

void WiredDatabase::answered(std::uint64_t client, bool well, const Frame& frame) {
  const auto state = static_cast<db::TransactionState>(frame.fields.back());  // It comes last.
  commands.answered(client, well, state != db::TransactionState::None);
}

std::unique_ptr<db::Driver> make_wired_driver(std::shared_ptr<WiredDatabase> database,
                                              std::unique_ptr<db::Driver> inner) {
  return std::make_unique<WiredDriver>(std::move(database), std::move(inner));
}

}  // namespace fermata::properties
