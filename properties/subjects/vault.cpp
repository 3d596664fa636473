// SPDX-License-Identifier: Apache-2.0
#include "properties/subjects/vault.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <sstream>

#include "fermata/core/suspend.hpp"
#include "fermata/db/errors.hpp"

namespace fermata::properties {
namespace {

using db::TransactionState;
using std::chrono::milliseconds;

constexpr const char* kVault = "vault";
constexpr std::string_view kForgotten = "26000";

class VaultConnection final : public db::Connection {
 public:
  VaultConnection(std::shared_ptr<Vault> vault, int id)
      : vault_(std::move(vault)), id_(id), session_(*vault_) {}
  ~VaultConnection() override { vault_->ended(id_); }

  std::unique_ptr<db::Answer> execute(std::string_view sql, db::Parameters,
                                      db::Fetch fetch) override {
    const Call call(*this);
    ask(sql);
    if (fetch == db::Fetch::ByRows) return std::make_unique<Rows>(*this);
    return std::make_unique<Whole>(take_answer().rows);
  }
  std::unique_ptr<db::Prepared> prepare(std::string_view sql) override {
    exchange("SELECT 0");
    return std::make_unique<Command>(*this, std::string(sql));
  }
  bool is_stale_plan(std::string_view sqlstate) const noexcept override {
    return sqlstate == kForgotten;
  }

  TransactionState transaction() const noexcept override {
    return broken_ ? TransactionState::Unknown : state_;
  }
  bool is_broken() const noexcept override { return broken_; }
  bool looks_alive() noexcept override { return !broken_; }
  void ping() override { exchange("SELECT 0"); }
  void reset_session() override {
    exchange("RESET");
    ++resets_;
  }
  void set_attribute(std::string_view, std::string_view) override { exchange("SELECT 0"); }

  void interrupt() override {
    const Call call(*this);
    vault_->travel();
    may_hang_up();
    session_.answers().clear();
    state_ = session_.state();
  }

 private:
  class Call : public WatchedCall {
   public:
    explicit Call(VaultConnection& connection)
        : WatchedCall(*connection.vault_, connection.id_, connection.session_.traces()) {}
  };

  class Whole final : public db::Answer {
   public:
    explicit Whole(std::deque<std::int64_t> rows) : rows_(std::move(rows)) {}
    const std::vector<std::string>& columns() const noexcept override { return names(); }
    bool next(std::vector<db::Cell>& row) override {
      if (rows_.empty()) return false;
      row = {rows_.front()};
      rows_.pop_front();
      return true;
    }
    const db::Effect& effect() const noexcept override { return effect_; }

   private:
    std::deque<std::int64_t> rows_;
    db::Effect effect_;
  };

  class Rows final : public db::Answer {
   public:
    explicit Rows(VaultConnection& connection) : connection_(connection) {}
    const std::vector<std::string>& columns() const noexcept override { return names(); }
    bool next(std::vector<db::Cell>& row) override {
      const Call call(connection_);
      connection_.vault_->travel();
      connection_.may_hang_up();
      auto& answers = connection_.session_.answers();
      if (answers.empty() || answers.front().rows.empty()) {
        if (!answers.empty()) connection_.take_answer();
        return false;
      }
      row = {answers.front().rows.front()};
      answers.front().rows.pop_front();
      return true;
    }
    const db::Effect& effect() const noexcept override { return effect_; }

   private:
    VaultConnection& connection_;
    db::Effect effect_;
  };

  class Command final : public db::Prepared {
   public:
    Command(VaultConnection& connection, std::string sql)
        : connection_(connection), sql_(std::move(sql)), resets_(connection.resets_) {}
    std::size_t parameter_count() const noexcept override { return 0; }
    std::unique_ptr<db::Answer> execute(db::Parameters parameters) override {
      if (resets_ != connection_.resets_) {
        connection_.exchange("SELECT 0");
        throw db::QueryError(kVault, kForgotten, "the server has forgotten the command");
      }
      return connection_.execute(sql_, parameters, db::Fetch::All);
    }

   private:
    VaultConnection& connection_;
    std::string sql_;
    unsigned resets_;
  };

  static const std::vector<std::string>& names() {
    static const std::vector<std::string> names = {"number"};
    return names;
  }

  void ask(std::string_view sql) {
    vault_->travel();
    may_hang_up();
    session_.serve(sql);
    vault_->travel();
    may_hang_up();
  }
  /// The oldest that waits, whatever it answers.
  VaultSession::Reply take_answer() {
    VaultSession::Reply reply = std::move(session_.answers().front());
    session_.answers().pop_front();
    state_ = reply.state;
    if (!reply.refusal.empty()) throw db::QueryError(kVault, reply.refusal, "refused");
    return reply;
  }
  void exchange(std::string_view sql) {
    const Call call(*this);
    ask(sql);
    take_answer();
  }
  void may_hang_up() {
    if (!broken_ && !vault_->unlucky()) return;
    broken_ = true;
    vault_->connections.broke(id_);
    throw db::ConnectionLost(kVault, db::sqlstate::kConnectionLost, "it hung up");
  }

  std::shared_ptr<Vault> vault_;
  int id_;
  VaultSession session_;
  TransactionState state_ = TransactionState::None;  // As the last answer has said.
  bool broken_ = false;
  unsigned resets_ = 0;
};

class VaultDriver final : public db::Driver {
 public:
  explicit VaultDriver(std::shared_ptr<Vault> vault) : vault_(std::move(vault)) {}
  void check(const db::Target&) const override {}
  std::unique_ptr<db::Connection> connect(db::Target) override {
    const int id = vault_->connecting();
    try {
      vault_->travel();
      if (vault_->unlucky()) {
        throw db::ConnectError(kVault, db::sqlstate::kCannotConnect, "nobody there");
      }
    } catch (...) {
      vault_->connections.refused(id);
      throw;
    }
    return std::make_unique<VaultConnection>(vault_, id);
  }

 private:
  std::shared_ptr<Vault> vault_;
};

}  // namespace

void Vault::choose(db::DatabaseOptions& options) const {
  options.health_check_interval = std::chrono::seconds(25);
  options.cleanup_limit = milliseconds(100);
}

// The end of a transaction that was left half way may have come about all the same.
bool Vault::may_fail(const db::DatabaseError& error, bool half_way) const {
  return fails() || (half_way && error.sqlstate() == kNoTransaction);
}

bool Vault::may_cost(int /*connection*/) const { return fails() || is_slow(); }

std::optional<std::int64_t> Vault::mark(db::Database& database) const {
  return database.query_one<std::int64_t>("SELECT mark");
}

void Vault::travel() const {
  if (stage_ == nullptr) return;
  const unsigned how = shape_[2] % 4u;
  switch (how == 3 ? random(3) : how) {
    case 0:
      break;
    case 1:
      suspend();
      break;
    default:
      delay(milliseconds(1));
  }
  const bool late = is_slow() && caller() == models::ConnectionsModel::kUpkeep;
  if (late && random(8) == 7) delay(milliseconds(200));
}

bool Vault::unlucky() const { return stage_ != nullptr && fails() && random(16) == 15; }

void VaultSession::serve(std::string_view sql) {
  std::string plain(sql);
  std::replace_if(
      plain.begin(), plain.end(), [](char c) { return c == '(' || c == ',' || c == ')'; }, ' ');
  std::istringstream text{plain};
  const std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
  const bool ends = words[0] == "ROLLBACK" || words[0] == "COMMIT";
  Reply reply;
  if (!ends && state_ == TransactionState::Failed) {
    reply.refusal = "25P02";
  } else if (!ends && vault_->unlucky()) {
    reply.refusal = "42000";
  } else {
    reply.refusal = carry_out(words, reply);
  }
  const bool spoiled = !reply.refusal.empty() && vault_->refusals_spoil();
  if (spoiled && state_ == TransactionState::Open) state_ = TransactionState::Failed;
  reply.state = state_;
  answers_.push_back(std::move(reply));
}

std::string VaultSession::carry_out(const std::vector<std::string>& words, Reply& reply) {
  const std::string& first = words[0];
  const bool in_transaction = state_ != TransactionState::None;
  if (first == "SELECT") {
    const std::int64_t number = words[1] == "mark" ? mark_ : std::stoll(words[1]);
    const int rows = words.size() > 2 ? Vault::kDigits : 1;
    for (int i = 0; i < rows; ++i) reply.rows.push_back(number + i);
  } else if (first == "SET") {
    mark_ = std::stoll(words[3]);
  } else if (first == "INSERT") {
    for (std::size_t i = 4; i < words.size(); i += 2) {
      legs_.push_back({.transfer = std::stoll(words[i]), .amount = std::stoll(words[i + 1])});
    }
    if (!in_transaction) end_transaction(true);
  } else if (first == "BEGIN") {
    if (in_transaction) return "25001";
    state_ = TransactionState::Open;
  } else if (first == "SAVEPOINT") {
    if (!in_transaction) return WatchedDatabase::kNoTransaction;
    savepoints_.emplace_back(words[1], legs_.size());
  } else if (first == "RELEASE") {
    return go_back_to(words[2], true);
  } else if (words.size() > 1) {
    return go_back_to(words[3], false);
  } else {
    end_transaction(first == "COMMIT");
    if (first == "RESET") mark_ = 0;
  }
  return {};
}

// A savepoint that is released stays with what came after it.
std::string VaultSession::go_back_to(const std::string& savepoint, bool forgets) {
  const auto found = std::find_if(savepoints_.rbegin(), savepoints_.rend(),
                                  [&](const auto& each) { return each.first == savepoint; });
  if (found == savepoints_.rend()) return "3B001";
  const auto place = std::prev(found.base());
  if (forgets) {
    savepoints_.erase(place, savepoints_.end());
    return {};
  }
  legs_.resize(place->second);
  savepoints_.erase(std::next(place), savepoints_.end());
  state_ = TransactionState::Open;
  return {};
}

void VaultSession::end_transaction(bool commits) {
  if (commits && state_ != TransactionState::Failed) {
    for (const Leg& leg : legs_) vault_->transfers.booked(leg.transfer, leg.amount);
  }
  legs_.clear();
  savepoints_.clear();
  state_ = TransactionState::None;
}

std::unique_ptr<db::Driver> make_vault_driver(std::shared_ptr<Vault> vault) {
  return std::make_unique<VaultDriver>(std::move(vault));
}

}  // namespace fermata::properties
