// SPDX-License-Identifier: Apache-2.0

// Coroutines that share a Database: they ask, transfer, leave transactions, settings, statements
// and answers behind, and are cancelled in the middle of it, on a database that is slow and fails:
// one in memory, and one behind its driver, a network and a machine that crashes.

#include "properties/subjects/databases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/db/database.hpp"
#include "fermata/sim/db/driver.hpp"
#include "properties/subjects/vault.hpp"
#include "properties/subjects/wired_database.hpp"

namespace fermata::properties {
namespace {
namespace databases {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kPatience{15};

class Databases : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {6, "ask", does<&Databases::ask_something>},
        {6, "transfer", does<&Databases::transfer>},
        {4, "begin or end a transaction", does<&Databases::step_transaction>},
        {2, "change the session", does<&Databases::change>},
        {3, "look at the session", does<&Databases::look>},
        {3, "prepare a statement", does<&Databases::prepare>},
        {2, "run one's statement", does<&Databases::run>},
        {2, "drop anybody's statement", does<&Databases::drop>},
        {3, "read a stream", does<&Databases::read>},
        {1, "reset the session", does<&Databases::reset>},
        {1, "close", does<&Databases::close_early>},
    });
  }

  Databases(Stage& on, std::shared_ptr<WatchedDatabase> watched, std::unique_ptr<db::Driver> driver,
            std::string_view url)
      : Subject(on),
        watched_(std::move(watched)),
        database_(std::move(driver), db::parse_url(url), options()),
        users_(on.actor_count()) {}
  ~Databases() override {
    statements_.clear();
    watched_->leave();
  }

  void perform(const Operation& operation, const Cue& cue) override {
    recount();
    const AtEnd at_end{*this, cue.actor};
    User& user = users_[cue.actor];
    try {
      Subject::perform(operation, cue);
    } catch (const db::TransactionLost& error) {
      if (!watched_->may_fail(error, user.half_way)) throw;
      user.mark.reset();
      if (cue.number % 2 == 0 && !closed_) database_.rollback();
    } catch (const db::DatabaseError& error) {
      if (!watched_->may_fail(error, user.half_way)) throw;
      user.mark.reset();
    } catch (const PoolError&) {
      if (!closed_) throw;
    } catch (...) {
      user.mark.reset();
      user.half_way = true;
      throw;
    }
  }

  void at_rest() override {
    watched_->settle();
    recount();
    const db::DatabaseMetrics metrics = database_.metrics();
    if (!closed_ && metrics.active != pinned_count()) {
      stage.complain(fmt::format("DB-06 (REF): {} connections are in use at rest, {} are pinned",
                                 metrics.active, pinned_count()));
    }
    if (metrics.waiting > 0 && metrics.active < watched_->max()) {
      stage.complain(fmt::format("DB-15 (WAKE): {} wait, but only {} of {} connections are in use",
                                 metrics.waiting, metrics.active, watched_->max()));
    }
  }

  void let_go() override {
    leaving_ = true;
    statements_.clear();
    delay(seconds(60));
    const db::DatabaseMetrics metrics = database_.metrics();
    if (!closed_ && metrics.active + metrics.waiting > 0) {
      stage.complain(
          fmt::format("DB-06 (REF): {} connections are in use when all have gone, and "
                      "{} wait",
                      metrics.active, metrics.waiting));
    }
    close();
  }

  void at_end() override {
    if (const std::size_t open = watched_->connections.count(); open > 0) {
      stage.complain(fmt::format("DB-06 (REF): {} connections were never closed", open));
    }
    watched_->end();
    stage.complain(watched_->transfers.at_end());
  }

 private:
  /// What an actor knows.
  struct User {
    int home = 0;                          // The connection of its transaction; 0 outside of one.
    bool half_way = false;                 // A command of that was left.
    std::set<std::int64_t> marks = {0};    // What it may have set.
    std::optional<std::int64_t> mark = 0;  // Nothing when it may have gone with what it was in.
    bool set_half_way = false;             // In a transaction, which may undo that.
  };
  struct AtEnd {
    Databases& law;
    std::size_t actor;
    ~AtEnd() {
      if (law.database_.in_transaction()) return;
      User& user = law.users_[actor];
      if (user.set_half_way) user.mark.reset();
      user.home = 0;
      user.half_way = user.set_half_way = false;
    }
  };
  struct Kept {
    std::shared_ptr<db::Statement> statement;
    std::int64_t number = 0;  // What it asks for.
    std::size_t owner = 0;
    int connection = 0;
    bool abandoned = false;  // Its transaction was.
  };

  db::DatabaseOptions options() const {
    const auto& shape = stage.script().shape;
    db::DatabaseOptions options;
    options.max = static_cast<std::int64_t>(watched_->max());
    options.min = std::min<std::int64_t>(shape[1] % 3u, options.max);
    if ((shape[3] & 1) != 0) options.acquire_timeout = kPatience;
    options.statement_cache = (shape[3] & 2) != 0 ? 1 : 0;
    watched_->choose(options);
    return options;
  }

  // --- commands ---

  void ask_something(const Cue& cue) { ask(cue.actor); }
  void ask(std::size_t actor) {
    const std::int64_t number = ++last_number_;
    expect(actor, number, database_.query_one<std::int64_t>(fmt::format("SELECT {}", number)));
    stay(actor);
  }

  void expect(std::size_t actor, std::int64_t asked, std::int64_t answer) {
    if (answer == asked) return;
    stage.complain(fmt::format("DB-11 (VAL): actor {} asked for {} and was answered {}", actor,
                               asked, answer));
  }
  /// What `actor` has just used is the connection of its transaction, if it is in one.
  void stay(std::size_t actor) {
    const int home = users_[actor].home;
    const int used = watched_->connections.last_used_by(actor);
    if (home == 0 || home == used) return;
    stage.complain(
        fmt::format("DB-04 (ISO): actor {} began a transaction on connection {}, and "
                    "used connection {}",
                    actor, home, used));
  }
  void settle_in(std::size_t actor) {
    users_[actor].home = watched_->connections.last_used_by(actor);
  }

  void read(const Cue& cue) {
    constexpr int kRows = WatchedDatabase::kDigits;
    const std::int64_t first = last_number_ + 1;
    last_number_ += kRows;
    auto stream = database_.stream<std::int64_t>(fmt::format("SELECT {} + n FROM digit", first));
    const int reads = cue.number % (kRows + 2);
    for (int i = 0; i < reads; ++i) {
      const std::optional<std::int64_t> row = stream.next();
      if (i < kRows) expect(cue.actor, first + i, row.value_or(0));
      if (i == kRows && row) stage.complain("DB-11 (VAL): a stream goes on after its end");
    }
    stay(cue.actor);
    const bool left = reads <= kRows && database_.in_transaction();
    if (left && watched_->stopping_spoils()) users_[cue.actor].half_way = true;
  }

  // --- transactions ---

  void transfer(const Cue& cue) {
    const std::size_t actor = cue.actor;
    if (database_.in_transaction()) return ask(actor);
    models::TransfersModel& transfers = watched_->transfers;
    const std::int64_t id = transfers.begun();
    if (cue.number % 8 == 6) return transfer_at_once(id);
    try {
      db::Transaction around = database_.transaction();
      settle_in(actor);
      move(actor, id, -10);
      if (cue.number % 4 == 1) {
        const db::Savepoint undone = around.savepoint();
        move(actor, id, 5);
      }
      if (cue.number % 2 == 1) delay(milliseconds(cue.number));
      if (cue.number == 15) throw PlannedError(cue.number);
      move(actor, id, 10);
      transfers.asked_for(id);
      around.commit();
      transfers.confirmed(id);
    } catch (...) {
      users_[actor].home = 0;
      for (Kept& kept : statements_) kept.abandoned = kept.abandoned || kept.owner == actor;
      throw;
    }
  }
  /// By one command, with no transaction around it.
  void transfer_at_once(std::int64_t id) {
    watched_->transfers.asked_for(id);
    database_.execute(fmt::format("INSERT INTO book VALUES ({0}, -10), ({0}, 10)", id));
    watched_->transfers.confirmed(id);
  }
  void move(std::size_t actor, std::int64_t transfer, int amount) {
    database_.execute(fmt::format("INSERT INTO book VALUES ({}, {})", transfer, amount));
    stay(actor);
  }

  void step_transaction(const Cue& cue) {
    database_.in_transaction() ? end_transaction(cue) : begin_transaction(cue);
  }
  void begin_transaction(const Cue& cue) {
    if (cue.number % 2 == 0) {
      database_.begin();
    } else {
      database_.execute("BEGIN");
    }
    settle_in(cue.actor);
  }
  void end_transaction(const Cue& cue) {
    switch (cue.number % 4) {
      case 0:
        database_.rollback();
        break;
      case 1:
        database_.execute("COMMIT");
        break;
      default:
        database_.commit();
    }
    stay(cue.actor);
  }

  // --- the session ---

  void change(const Cue& cue) {
    User& user = users_[cue.actor];
    const std::int64_t mark = ++last_number_;
    user.marks.insert(mark);
    database_.execute(fmt::format("SET mark = {}", mark));
    user.mark = mark;
    user.set_half_way = database_.in_transaction();
    stay(cue.actor);
  }
  void look(const Cue& cue) {
    const User& user = users_[cue.actor];
    const std::optional<std::int64_t> mark = watched_->mark(database_);
    if (!mark) return;
    if (user.marks.count(*mark) == 0) {
      stage.complain(fmt::format("DB-13 (ISO): actor {} sees the setting {} of somebody else",
                                 cue.actor, *mark));
    } else if (user.mark && *mark != *user.mark) {
      stage.complain(fmt::format("DB-13 (VAL): actor {} has set {} and sees {}", cue.actor,
                                 *user.mark, *mark));
    }
    stay(cue.actor);
  }
  void reset(const Cue& cue) {
    if (database_.in_transaction()) return;
    database_.reset_session();
    users_[cue.actor].mark = 0;
  }

  // --- statements ---

  void prepare(const Cue& cue) {
    const std::int64_t asked = ++last_number_;
    auto statement =
        std::make_shared<db::Statement>(database_.prepare(fmt::format("SELECT {}", asked)));
    stay(cue.actor);
    if (cue.number % 2 == 0) expect(cue.actor, asked, statement->query_one<std::int64_t>());
    if (cue.number % 4 == 3 || leaving_) return;
    const int connection = watched_->connections.last_used_by(cue.actor);
    statements_.push_back({std::move(statement), asked, cue.actor, connection});
  }
  void run(const Cue& cue) {
    const auto mine = std::find_if(statements_.begin(), statements_.end(), [&](const Kept& kept) {
      return kept.owner == cue.actor && !kept.abandoned;
    });
    if (mine == statements_.end()) return;
    const Kept kept = *mine;  // Others may drop theirs meanwhile.
    expect(cue.actor, kept.number, kept.statement->query_one<std::int64_t>());
  }
  void drop(const Cue& cue) {
    if (statements_.empty()) return;
    const auto which = static_cast<std::ptrdiff_t>(cue.number % statements_.size());
    statements_.erase(statements_.begin() + which);
  }
  /// Connections that statements keep.
  [[nodiscard]] std::size_t pinned_count() const {
    std::set<int> kept;
    for (const Kept& each : statements_) kept.insert(each.connection);
    return kept.size();
  }

  // --- the rest ---

  void close_early(const Cue& cue) {
    if (cue.number < 4) close();
  }
  void close() {
    closed_ = true;
    watched_->closing();
    database_.close();
  }

  /// Looking takes nothing.
  void recount() {
    const db::DatabaseMetrics before = database_.metrics();
    static_cast<void>(database_.in_transaction());
    static_cast<void>(database_.last_error());
    const db::DatabaseMetrics after = database_.metrics();
    if (before.active != after.active || before.idle != after.idle) {
      stage.complain("DB-07 (REF): looking has taken a connection");
    }
  }

  std::shared_ptr<WatchedDatabase> watched_;
  db::Database database_;
  std::vector<User> users_;
  std::vector<Kept> statements_;
  std::int64_t last_number_ = 1'000;
  bool closed_ = false;
  bool leaving_ = false;  // Nobody keeps anything any more.
};

class OverVault final : public Databases {
 public:
  explicit OverVault(Stage& on) : OverVault(on, std::make_shared<Vault>(on)) {}

 private:
  OverVault(Stage& on, const std::shared_ptr<Vault>& vault)
      : Databases(on, vault, make_vault_driver(vault), "vault://here/books") {}
};

class OverWire final : public Databases {
 public:
  explicit OverWire(Stage& on)
      : OverWire(on, std::make_shared<WiredDatabase>(on, false), sim::make_database_driver(),
                 "sim://db:5000/books") {}
  OverWire(Stage& on, std::unique_ptr<db::Driver> driver, std::string_view url)
      : OverWire(on, std::make_shared<WiredDatabase>(on, true), std::move(driver), url) {}

 private:
  OverWire(Stage& on, const std::shared_ptr<WiredDatabase>& wired,
           std::unique_ptr<db::Driver> driver, std::string_view url)
      : Databases(on, wired, make_wired_driver(wired, std::move(driver)), url) {
    WiredDatabase::serve(wired);
  }
};

}  // namespace databases
}  // namespace

SubjectKind database_subject() { return kind_of<databases::OverVault>(); }
SubjectKind wired_database_subject() { return kind_of<databases::OverWire>(); }
std::unique_ptr<Subject> make_wired_database(Stage& stage, std::unique_ptr<db::Driver> driver,
                                             std::string_view url) {
  return std::make_unique<databases::OverWire>(stage, std::move(driver), url);
}

constinit const Law kDatabases = {
    "databases",
    "each coroutine has a connection as its own: nobody else's transaction, settings or answers",
    {"DB-02", "DB-03", "DB-04", "DB-05", "DB-06", "DB-07", "DB-09", "DB-11", "DB-13", "DB-15",
     "G-03", "G-05"},
    &scripts_over<databases::OverVault>};

constinit const Law kWiredDatabases = {
    "wired_databases",
    "behind a driver and a network, too; and nothing is stopped but what somebody wants stopped",
    {"DB-03", "DB-04", "DB-05", "DB-06", "DB-09", "DB-11", "DB-13", "DB-15", "G-03", "G-05"},
    &scripts_over<databases::OverWire>};

}  // namespace fermata::properties
