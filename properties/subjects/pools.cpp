// SPDX-License-Identifier: Apache-2.0

// A pool whose factory, hooks and destructor suspend, throw and reject, while its users come, wait,
// hold, give back and go.

#include "fermata/sync/pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "properties/models/pool_model.hpp"
#include "properties/scripts/law.hpp"

namespace fermata::properties {
namespace {
namespace pools {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// What a factory, a hook or a destructor throws.
class ServiceError final : public Linkable<ServiceError> {
 public:
  ServiceError() : Linkable("service error") {}
};

struct Resource {
  int id = 0;
};

/// How the service behind the pool behaves, and what the law knows about the pool. The pool's own
/// coroutines may be unwound after the subject: then nobody listens any more.
class Desk {
 public:
  explicit Desk(Stage& stage)
      : stage_(&stage),
        shape_(stage.script().shape),
        model(min(), max()),
        interrupted(stage.actor_count()) {}

  [[nodiscard]] std::size_t max() const noexcept { return 1u + shape_[0] % 3u; }
  [[nodiscard]] std::size_t min() const noexcept {
    return std::min<std::size_t>(shape_[1] % 3u, max());
  }
  [[nodiscard]] bool asks_before_acquire() const noexcept { return (shape_[3] & 1) != 0; }
  [[nodiscard]] bool asks_before_release() const noexcept { return (shape_[3] & 2) != 0; }
  [[nodiscard]] bool fails() const noexcept { return shape_[1] >= 4; }

  void complain(const models::Complaint& complaint) {
    if (stage_ != nullptr) stage_->complain(complaint);
  }
  void leave() noexcept { stage_ = nullptr; }
  void begin() noexcept { begun_ = true; }

  /// `actor` has a place, if it acquires.
  void took_place(std::size_t actor) {
    const auto waker = [this](std::size_t other) -> const backend::Waker& {
      return stage_->actor(other).waker();
    };
    complain(model.took_place(
        actor, [&](std::size_t other) { return stage_->parked(other); },
        [&](std::size_t other) {
          return waker(other).status == backend::WakerStatus::Queued && !waker(other).error;
        }));
  }

  // --- the service ---

  Resource make() {
    const std::optional<std::size_t> actor = acquirer();
    if (actor) took_place(*actor);
    complain(model.making());
    try {
      serve(actor, begun_);
    } catch (...) {
      model.not_made();
      throw;
    }
    const int id = ++last_id_;
    model.made(id, actor.has_value());
    return {id};
  }

  bool before_acquire(Resource& resource) {
    const std::optional<std::size_t> actor = acquirer();
    if (actor) took_place(*actor);
    complain(model.taken_from_idle(resource.id));
    const auto judge = [&](bool accepted) { model.judged_for_use(resource.id, accepted); };
    return ask(actor, judge);
  }
  bool before_release(Resource& resource) {
    complain(model.asked_at_return(resource.id));
    return ask({}, [&](bool accepted) { model.judged_for_rest(resource.id, accepted); });
  }
  bool check_health(Resource& resource) {
    complain(model.taken_from_idle(resource.id));
    return ask({}, [&](bool accepted) { model.judged_for_rest(resource.id, accepted); });
  }

  void end(Resource& resource) {
    complain(model.ending(resource.id));
    struct Ended {
      models::PoolModel& model;
      int id;
      ~Ended() { model.ended(id); }
    } const ended{model, resource.id};
    serve(acquirer(), true);
  }

 private:
  Stage* stage_;
  std::array<std::uint8_t, 4> shape_;

 public:
  models::PoolModel model;
  std::vector<bool> interrupted;  // Whether a cancellation has reached the actor in a hook.

 private:
  /// The actor in whose coroutine this is called.
  [[nodiscard]] std::optional<std::size_t> acquirer() const {
    return stage_ != nullptr && begun_ ? stage_->current_actor() : std::nullopt;
  }

  template <class Judge>
  bool ask(const std::optional<std::size_t>& actor, Judge judge) {
    try {
      serve(actor, true);
    } catch (...) {
      judge(false);
      throw;
    }
    const bool accepted = !unlucky();
    judge(accepted);
    return accepted;
  }

  /// Takes its time, and may fail.
  void serve(const std::optional<std::size_t>& actor, bool may_fail) {
    if (stage_ == nullptr) return;
    try {
      const unsigned how = shape_[2] % 4u;
      switch (how == 3 ? random(4) : how) {
        case 0:
          break;
        case 1:
          suspend();
          break;
        case 2:
          delay(milliseconds(1));
          break;
        default:
          sim::consume(milliseconds(2));  // Whoever was woken runs later than it could.
      }
    } catch (const Cancellation&) {
      if (actor) interrupted[*actor] = true;
      throw;
    }
    if (may_fail && unlucky()) throw ServiceError();
  }

  [[nodiscard]] bool unlucky() const { return stage_ != nullptr && fails() && random(4) == 3; }

  int last_id_ = 0;
  bool begun_ = false;
};

class Pools final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {8, "use a resource", does<&Pools::use_one>},
        {4, "take a resource", does<&Pools::take>},
        {4, "give one back", does<&Pools::give>},
        {2, "try to use", does<&Pools::try_to_use>},
        {2, "check health", does<&Pools::check_health>},
        {1, "switch the circuit", does<&Pools::switch_circuit>},
        {1, "close", does<&Pools::close_early>},
    });
  }

  explicit Pools(Stage& on)
      : Subject(on),
        desk_(std::make_shared<Desk>(on)),
        active_events_(current_runtime().active_event_count()),
        pool_("pool", options(desk_)),
        held_(on.actor_count()) {
    if (current_runtime().active_event_count() != active_events_) {
      stage.complain("POOL-15 (SHUT): the timer of the health check counts as activity");
    }
  }
  ~Pools() override {
    for (auto& loans : held_) loans.clear();
    desk_->leave();
  }

  void perform(const Operation& operation, const Cue& cue) override {
    desk_->begin();
    recount();
    Subject::perform(operation, cue);
  }

  void at_rest() override {
    recount();
    const bool open = !pool_.is_closed() && pool_.state() != CircuitState::Inactive;
    stage.complain(desk_->model.at_rest(pool_.waiting_count(), open, false));
  }

  void let_go() override {
    desk_->begin();
    pool_.check_health();
    delay(seconds(1));
    recount();
    const bool upkeep = !pool_.is_closed() && !desk_->fails();
    stage.complain(desk_->model.at_rest(pool_.waiting_count(), pool_.waiting_count() > 0, upkeep));
    close();
    for (std::size_t actor = 0; actor < held_.size(); ++actor) {
      while (!held_[actor].empty()) give_oldest(actor, 0);
    }
  }

  void at_end() override {
    recount();
    stage.complain(desk_->model.at_end());
  }

 private:
  /// A lease that tells the model when it ends.
  class Loan {
   public:
    Loan(std::shared_ptr<Desk> desk, Lease<Resource>&& lease)
        : desk_(std::move(desk)), lease_(std::move(lease)) {}
    Loan(Loan&&) noexcept = default;
    Loan& operator=(Loan&&) = delete;
    ~Loan() {
      if (lease_) tell(false);
    }

    void release() {
      tell(false);
      lease_.release();
    }
    void discard() {
      tell(true);
      lease_.discard();
    }
    /// Gives the resource back to `pool`, which it came from, as one that no lease holds any more.
    void release_detached(Pool<Resource>& pool) {
      tell(false);
      pool.release(lease_.detach());
    }
    [[nodiscard]] Resource& resource() { return *lease_; }

   private:
    void tell(bool broken) {
      desk_->complain(desk_->model.given_back(lease_->id, broken, desk_->asks_before_release()));
    }
    std::shared_ptr<Desk> desk_;
    Lease<Resource> lease_;
  };

  static PoolOptions<Resource> options(const std::shared_ptr<Desk>& desk) {
    PoolOptions<Resource> options;
    options.factory = [desk] { return desk->make(); };
    options.destructor = [desk](Resource& resource) { desk->end(resource); };
    options.health_check = [desk](Resource& resource) { return desk->check_health(resource); };
    if (desk->asks_before_acquire()) {
      options.before_acquire = [desk](Resource& resource) {
        return desk->before_acquire(resource);
      };
    }
    if (desk->asks_before_release()) {
      options.before_release = [desk](Resource& resource) {
        return desk->before_release(resource);
      };
    }
    options.health_check_interval = seconds(30);
    options.min = static_cast<std::int64_t>(desk->min());
    options.max = static_cast<std::int64_t>(desk->max());
    return options;
  }

  void use_one(const Cue& cue) { use(acquire(cue, false), cue.number); }
  void try_to_use(const Cue& cue) { use(acquire({cue.actor, cue.number, {}}, true), cue.number); }
  void take(const Cue& cue) {
    if (auto loan = acquire(cue, false)) held_[cue.actor].push_back(std::move(*loan));
  }
  void give(const Cue& cue) { give_oldest(cue.actor, cue.number); }
  void check_health() { pool_.check_health(); }

  [[nodiscard]] bool is_shut() const {
    return pool_.is_closed() || pool_.state() == CircuitState::Inactive;
  }

  /// Nothing when the pool could not give, for a good reason.
  std::optional<Loan> acquire(const Cue& cue, bool only_tries) {
    models::PoolModel& model = desk_->model;
    const bool shut = is_shut();
    const bool full = model.all_in_use();
    const unsigned openings = openings_;
    desk_->interrupted[cue.actor] = false;
    model.arrived(cue.actor);
    const Due if_full = only_tries ? Due::Now : Due::Later;
    std::optional<Loan> loan;
    const auto acquire = [&] {
      auto lease = only_tries ? pool_.try_acquire() : pool_.acquire(cue.patience);
      if (lease) loan.emplace(lent(cue.actor, std::move(*lease), shut));
    };
    try {
      call(cue,
           shut   ? Due::Now
           : full ? if_full
                  : Due::Unknown,
           acquire, [&](const Ending& end) {
             if (!loan) model.left(cue.actor);
             if (!end.forced()) recount();
           });
    } catch (const ServiceUnavailable&) {
      if (!shut && openings == openings_)
        stage.complain("POOL-16 (ERR): the circuit was never open");
    } catch (const PoolError& error) {
      if (!pool_.is_closed())
        stage.complain(fmt::format("ERR: an open pool says {}", error.what()));
    } catch (const ServiceError&) {
      if (!desk_->fails()) throw;
    }
    return loan;
  }

  Loan lent(std::size_t actor, Lease<Resource>&& lease, bool shut) {
    desk_->took_place(actor);
    const int id = lease->id;
    stage.complain(desk_->model.handed_out(id, actor));
    Loan loan(desk_, std::move(lease));
    if (shut) stage.complain("POOL-16 (CAP): somebody was let in while the pool was shut");
    if (desk_->interrupted[actor]) {
      stage.complain("POOL-20 (CANC): a cancellation in a hook did not leave acquire");
    }
    return loan;
  }

  void use(std::optional<Loan> loan, std::uint8_t number) {
    if (!loan) return;
    if (number % 4 == 1) suspend();
    if (number % 4 >= 2) delay(milliseconds(number));
    if (number == 15) throw PlannedError(number);
    give_back(*loan, number);
  }

  void give_oldest(std::size_t actor, std::uint8_t number) {
    if (held_[actor].empty()) return;
    Loan loan = std::move(held_[actor].front());
    held_[actor].pop_front();
    give_back(loan, number);
  }

  // Or leaves it to the end of the loan.
  void give_back(Loan& loan, std::uint8_t number) {
    try {
      if (number % 3 == 0) loan.release();
      if (number % 6 == 1) loan.discard();
      if (number % 6 == 5) {
        expect_refusal(loan.resource());
        loan.release_detached(pool_);
      }
    } catch (const ServiceError&) {
      if (!desk_->fails()) throw;
    }
  }

  void expect_refusal(Resource& leased) {
    try {
      pool_.release(leased);
    } catch (const UsageError&) {
      return;
    }
    stage.complain("POOL-03 (ERR): the pool took a resource that a lease holds");
  }

  void switch_circuit(const Cue& cue) {
    if (cue.number % 3 == 0) {
      if (!pool_.is_closed()) desk_->model.dismissed();
      ++openings_;
      pool_.deactivate();
    } else if (cue.number % 3 == 1) {
      pool_.activate();
    } else {
      pool_.recover();
    }
  }

  void close_early(const Cue& cue) {
    if (cue.number < 4) close();
  }
  void close() {
    if (pool_.is_closed()) return;
    desk_->model.closed();
    desk_->model.dismissed();
    try {
      pool_.close();
    } catch (const ServiceError&) {
      if (!desk_->fails()) throw;
    }
  }

  void recount() {
    stage.complain(desk_->model.recount(pool_.idle_count(), pool_.active_count(),
                                        pool_.reserved_count(), pool_.waiting_count()));
    const std::string info =
        fmt::format("Pool(idle={}, active={}, reserved={}, max={})", pool_.idle_count(),
                    pool_.active_count(), pool_.reserved_count(), desk_->max());
    if (pool_.info() != info) stage.complain("POOL-01 (REF): it says " + pool_.info());
  }

  std::shared_ptr<Desk> desk_;
  std::size_t active_events_;  // Before there was a pool.
  Pool<Resource> pool_;
  std::vector<std::deque<Loan>> held_;  // Of each actor.
  unsigned openings_ = 0;               // Of the circuit.
};

}  // namespace pools
}  // namespace

constinit const Law kPools = {
    "pools",
    "resources are in one place each, never more than max, and served in the order of arrival",
    {"CORE-GL-08", "G-05",    "POOL-01", "POOL-02", "POOL-03", "POOL-04", "POOL-05",
     "POOL-07",    "POOL-10", "POOL-11", "POOL-12", "POOL-14", "POOL-15", "POOL-16",
     "POOL-17",    "POOL-19", "POOL-20", "POOL-21", "POOL-22", "G-03"},
    &scripts_over<pools::Pools>};

}  // namespace fermata::properties
