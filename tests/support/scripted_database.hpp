// SPDX-License-Identifier: Apache-2.0
#pragma once

// A database that does what a test says: a driver without a server. What its connections are told
// is in a journal, as "1 BEGIN" for connection 1.

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fermata/core/suspend.hpp"
#include "fermata/db/database.hpp"

namespace fermata::test {

/// What all connections of one scripted database share.
struct Script {
  std::vector<std::string> journal;
  std::set<int> alive;  // Connections that are open.
  std::size_t most_alive = 0;
  Duration latency = Duration::zero();
  std::set<std::string> fails;  // Commands that the server refuses.
  std::set<std::string> kills;  // Commands that the connection does not survive.
  std::set<std::string> stale;  // Prepared texts that the server has forgotten, once each.
  std::set<int> gone;           // Connections whose other side has gone.
  bool is_quick = false;        // What is interrupted has been done already.
  std::function<void()> on_connect;
  db::Target last_target;
  int connections = 0;
};

class ScriptedConnection final : public db::Connection {
 public:
  explicit ScriptedConnection(std::shared_ptr<Script> script)
      : script_(std::move(script)), id_(++script_->connections) {
    script_->alive.insert(id_);
    script_->most_alive = std::max(script_->most_alive, script_->alive.size());
  }
  ~ScriptedConnection() override {
    script_->alive.erase(id_);
    script_->journal.push_back(std::to_string(id_) + " close");
  }

  std::unique_ptr<db::Answer> execute(std::string_view sql, db::Parameters parameters,
                                      db::Fetch) override {
    say(std::string(sql));
    return std::make_unique<Rows>(id_, std::string(sql), parameters.size());
  }
  std::unique_ptr<db::Prepared> prepare(std::string_view sql) override {
    say("prepare " + std::string(sql));
    return std::make_unique<Command>(*this, std::string(sql));
  }
  [[nodiscard]] bool is_stale_plan(std::string_view sqlstate) const noexcept override {
    return sqlstate == "26000";
  }
  [[nodiscard]] db::TransactionState transaction() const noexcept override {
    return broken_ ? db::TransactionState::Unknown : transaction_;
  }
  [[nodiscard]] bool is_broken() const noexcept override { return broken_; }
  [[nodiscard]] bool looks_alive() noexcept override { return script_->gone.count(id_) == 0; }
  void ping() override { say("ping"); }
  void reset_session() override { say("reset"); }
  void set_attribute(std::string_view name, std::string_view value) override {
    say("set " + std::string(name) + "=" + std::string(value));
  }
  void interrupt() override {
    if (std::exchange(running_, false) && script_->is_quick) take_effect();
    say("interrupt");
  }

 private:
  /// One row: the connection, the command and the number of its parameters.
  class Rows final : public db::Answer {
   public:
    Rows(int connection, std::string sql, std::size_t parameters)
        : connection_(connection), sql_(std::move(sql)), parameters_(parameters) {}
    [[nodiscard]] const std::vector<std::string>& columns() const noexcept override {
      static const std::vector<std::string> names = {"connection", "sql", "parameters"};
      return names;
    }
    bool next(std::vector<db::Cell>& row) override {
      if (std::exchange(read_, true)) return false;
      row = {std::int64_t{connection_}, std::string_view(sql_),
             static_cast<std::int64_t>(parameters_)};
      return true;
    }
    [[nodiscard]] const db::Effect& effect() const noexcept override { return effect_; }

   private:
    int connection_;
    std::string sql_;
    std::size_t parameters_;
    bool read_ = false;
    db::Effect effect_{.affected_rows = 1, .last_insert_id = 7};
  };

  class Command final : public db::Prepared {
   public:
    Command(ScriptedConnection& connection, std::string sql)
        : connection_(connection), sql_(std::move(sql)) {}
    [[nodiscard]] std::size_t parameter_count() const noexcept override { return 0; }
    std::unique_ptr<db::Answer> execute(db::Parameters parameters) override {
      if (connection_.script_->stale.erase(sql_) > 0) {
        throw db::QueryError("scripted", "26000", "no such prepared command");
      }
      return connection_.execute(sql_, parameters, db::Fetch::All);
    }

   private:
    ScriptedConnection& connection_;
    std::string sql_;
  };

  void say(const std::string& sql) {
    if (running_)
      throw Error("connection " + std::to_string(id_) + " is told: " + sql +
                  ", in the middle of a command");
    script_->journal.push_back(std::to_string(id_) + " " + sql);
    running_ = true;
    last_ = sql;
    if (script_->latency > Duration::zero()) fermata::delay(script_->latency);
    running_ = false;
    if (script_->kills.count(sql) > 0 || script_->gone.count(id_) > 0) {
      broken_ = true;
      throw db::ConnectionLost("scripted", "08006", "gone");
    }
    if (script_->fails.count(sql) > 0) {
      if (transaction_ == db::TransactionState::Open) transaction_ = db::TransactionState::Failed;
      throw db::QueryError("scripted", "42000", "refused");
    }
    take_effect();
  }
  void take_effect() {
    if (last_ == "BEGIN") transaction_ = db::TransactionState::Open;
    if (last_ == "COMMIT" || last_ == "ROLLBACK") transaction_ = db::TransactionState::None;
  }

  std::shared_ptr<Script> script_;
  int id_;
  std::string last_;
  bool running_ = false;
  bool broken_ = false;
  db::TransactionState transaction_ = db::TransactionState::None;
};

class ScriptedDriver final : public db::Driver {
 public:
  explicit ScriptedDriver(std::shared_ptr<Script> script) : script_(std::move(script)) {}
  void check(const db::Target&) const override {}
  std::unique_ptr<db::Connection> connect(db::Target target) override {
    if (script_->latency > Duration::zero()) fermata::delay(script_->latency);
    if (script_->on_connect) script_->on_connect();
    target.password = "changed";  // As a driver may.
    script_->last_target = target;
    return std::make_unique<ScriptedConnection>(script_);
  }

 private:
  std::shared_ptr<Script> script_;
};

/// A database of `script`, at scripted://ann@/shop.
inline db::Database scripted_database(std::shared_ptr<Script> script,
                                      db::DatabaseOptions options = {}) {
  return {std::make_unique<ScriptedDriver>(std::move(script)),
          db::parse_url("scripted://ann:secret@/shop"), std::move(options)};
}

}  // namespace fermata::test
