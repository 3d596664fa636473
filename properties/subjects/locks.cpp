// SPDX-License-Identifier: Apache-2.0

// A mutex with a condition, a semaphore, something to be done once, and a barrier.

#include <array>
#include <chrono>
#include <mutex>

#include "fermata/runtime.hpp"
#include "properties/models/line_model.hpp"
#include "properties/models/lock_model.hpp"
#include "properties/scripts/law.hpp"
#include "properties/subjects/listed.hpp"

namespace fermata::properties {
namespace {
namespace locks {

using std::chrono::milliseconds;

/// What an actor does while it has something.
void spend_time(const Cue& cue) {
  if (cue.number % 3 == 1) suspend();
  if (cue.number % 3 == 2) delay(milliseconds(cue.number));
}

class Locks final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {6, "lock", does<&Locks::lock>},
        {6, "acquire", does<&Locks::acquire>},
        {4, "produce", does<&Locks::produce>},
        {4, "consume", does<&Locks::consume>},
        {3, "do once", does<&Locks::do_once>},
        {3, "arrive", does<&Locks::arrive>},
        {1, "reset", does<&Locks::reset>},
    });
  }

  explicit Locks(Stage& on) : Subject(on) {}

  void at_rest() override {
    if (mutex_.is_locked() || !mutex_line_.line().empty()) {
      stage.complain("WAKE: nobody is inside, but at rest there is " + mutex_.info());
    }
    if (!semaphore_line_.line().empty()) {
      stage.complain("WAKE: all permits are back, but at rest there is " + semaphore_.info());
    }
    if (items_ > 0 && consumers_ > 0) {
      stage.complain("WAKE: there is an item, but at rest there is " + not_empty_.info());
    }
    if (once_callers_ > 0) stage.complain("WAKE: nobody does it, but there is " + once_.info());
    if (barrier_.broken() != barrier_model_.broken() ||
        barrier_.arrived() != barrier_model_.waiting()) {
      stage.complain("BARRIER (recount): " + barrier_.info());
    }
    if (barrier_.broken() && at_barrier_ > 0) {
      stage.complain("WAKE: at rest there is " + barrier_.info());
    }
    check_counts();
  }

  void let_go() override {
    closing_ = true;
    reset();
    not_empty_.notify_all();
  }

  void at_end() override { check_counts(); }

 private:
  [[nodiscard]] auto sleeping() const {
    return [this](std::size_t other) { return stage.parked(other); };
  }

  // Waits in line for `take`, which keeps to the order of `line`.
  template <class Take>
  void in_turn(models::LineModel& line, std::size_t actor, Take take) {
    line.arrived(actor);
    try {
      take();
    } catch (...) {
      line.left(actor);
      throw;
    }
    stage.complain(line.served(actor, sleeping()));
  }

  void lock(const Cue& cue) {
    if (cue.number == 15) {
      if (!mutex_.try_lock()) return;
    } else {
      in_turn(mutex_line_, cue.actor, [&] { mutex_.lock(cue.patience); });
    }
    const std::unique_lock guard(mutex_, std::adopt_lock);
    const Inside inside(*this, cue.actor);
    spend_time(cue);
  }

  void acquire(const Cue& cue) {
    const std::size_t count = 1 + cue.number % permits_;
    in_turn(semaphore_line_, cue.actor, [&] { semaphore_.acquire(count, cue.patience); });
    stage.complain(permits_model_.taken(cue.actor, count));
    struct Back {
      ~Back() {
        locks.permits_model_.given_back(count);
        locks.semaphore_.release(count);
      }
      Locks& locks;
      std::size_t count;
    } const back{*this, count};
    spend_time(cue);
  }

  void produce(const Cue& cue) {
    const Mutex::Guard guard(mutex_);
    const Inside inside(*this, cue.actor);
    ++items_;
    not_empty_.notify_one();
  }

  void consume(const Cue& cue) {
    const Mutex::Guard guard(mutex_);
    const Counted counted(consumers_);
    not_empty_.wait(
        mutex_, [this] { return items_ > 0 || closing_; }, cue.patience);
    if (!mutex_.held_by_caller()) stage.complain("CAP: a wait has ended without its mutex");
    if (items_ > 0) --items_;
  }

  void do_once(const Cue& cue) {
    const Counted counted(once_callers_);
    once_.call(
        [&] {
          stage.complain(once_model_.begun());
          struct End {
            ~End() { model.ended(success); }
            models::OnceModel& model;
            bool success = false;
          } end{once_model_};
          spend_time(cue);
          if (cue.number % 4 == 3) throw PlannedError(cue.number);
          end.success = true;
        },
        cue.patience);
    stage.complain(once_model_.returned());
  }

  void arrive(const Cue& cue) {
    if (closing_) return;
    if (barrier_model_.broken()) {
      try {
        barrier_.arrive_and_wait(cue.patience);
        stage.complain("BARRIER: a party has arrived at a broken one");
      } catch (const BrokenBarrier&) {
      }
      return;
    }
    const Counted counted(at_barrier_);
    const std::size_t round = barrier_model_.arrived();
    try {
      barrier_.arrive_and_wait(cue.patience);
    } catch (const BrokenBarrier&) {
      return stage.complain(barrier_model_.refused(round));
    } catch (...) {
      barrier_model_.gave_up(round);
      throw;
    }
    stage.complain(barrier_model_.passed(round));
  }

  void reset() {
    barrier_model_.reset();
    barrier_.reset();
  }

  void check_counts() {
    stage.complain(permits_model_.recount(semaphore_.available()));
    stage.complain(mutex_model_.recount(mutex_.is_locked() ? 0 : 1));
  }

  struct Inside {
    Inside(Locks& of, std::size_t actor) : locks(of) {
      locks.stage.complain(locks.mutex_model_.taken(actor, 1));
    }
    Inside(const Inside&) = delete;
    ~Inside() { locks.mutex_model_.given_back(1); }
    Locks& locks;
  };

  const std::size_t permits_ = 1 + stage.script().shape[0] % 4u;
  const std::size_t parties_ = 1 + stage.script().shape[1] % stage.actor_count();

  Mutex mutex_{"mutex"};
  models::PermitModel mutex_model_{1};
  models::LineModel mutex_line_;

  Semaphore semaphore_{"semaphore", permits_};
  models::PermitModel permits_model_{permits_};
  models::LineModel semaphore_line_;

  Condition not_empty_{"not empty"};
  std::size_t items_ = 0;
  std::size_t consumers_ = 0;

  Once once_{"once"};
  models::OnceModel once_model_;
  std::size_t once_callers_ = 0;

  Barrier barrier_{"barrier", parties_};
  models::BarrierModel barrier_model_{parties_};
  std::size_t at_barrier_ = 0;
  bool closing_ = false;
};

}  // namespace locks
}  // namespace

constinit const Law kLocks = {
    "locks",
    "locks exclude, serve in the order of arrival, lose no permit and leave nobody asleep",
    {"CORE-GL-07", "CORE-GL-08"},
    &scripts_over<locks::Locks>};

}  // namespace fermata::properties
