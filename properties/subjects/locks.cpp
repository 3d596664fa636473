// SPDX-License-Identifier: Apache-2.0

// A mutex with two conditions, a semaphore, something to be done once, and a barrier.

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

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
        {2, "await a change", does<&Locks::await_change>},
        {3, "do once", does<&Locks::do_once>},
        {3, "arrive", does<&Locks::arrive>},
        {1, "reset", does<&Locks::reset>, true},
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
    if (barrier_.is_broken() != barrier_model_.is_broken() ||
        barrier_.arrived() != barrier_model_.waiting()) {
      stage.complain("BARRIER (recount): " + barrier_.info());
    }
    if (barrier_.is_broken() && at_barrier_ > 0) {
      stage.complain("WAKE: at rest there is " + barrier_.info());
    }
    check_counts();
  }

  void let_go() override {
    closing_ = true;
    reset();
    not_empty_.notify_all();
    changed_.notify_all();
  }

  void at_end() override { check_counts(); }

 private:
  [[nodiscard]] auto sleeping() const {
    return [this](std::size_t other) { return stage.parked(other); };
  }

  /// Whether whoever is in `line` is sure to be on its way to what it waits for.
  [[nodiscard]] bool somebody_sleeps(const models::LineModel& line) const {
    return std::any_of(line.line().begin(), line.line().end(), sleeping());
  }
  /// A call has ended: its caller is nowhere in `primitive` any more.
  template <class Primitive>
  void expect_gone(const Primitive& primitive, std::size_t actor) {
    if (primitive.info().find("'" + stage.actor(actor).label() + "'") == std::string::npos) return;
    stage.complain("CORE-GL-04 (REF): the call has ended, but there is " + primitive.info() +
                   stage.where(actor));
  }

  // Waits in line for `take`, which keeps to the order of `line`.
  template <class Take, class Check>
  void in_turn(const Cue& cue, models::LineModel& line, Due due, Take take, Check check) {
    line.arrived(cue.actor);
    call(cue, due, take, [&](const Ending& end) {
      if (end.returned()) {
        stage.complain(line.served(cue.actor, sleeping()));
      } else {
        line.left(cue.actor);
      }
      if (!end.forced()) check(end);
    });
  }

  // --- the mutex ---

  [[nodiscard]] Due due_of_mutex() const {
    if (mutex_model_.spare() == 0) return Due::Later;
    const bool some = at_conditions_ > 0 || !mutex_line_.line().empty();
    return some ? Due::Unknown : Due::Now;
  }
  void lock_in_turn(const Cue& cue) {
    in_turn(
        cue, mutex_line_, due_of_mutex(), [&] { mutex_.lock(cue.patience); },
        [&](const Ending& end) { expect_mutex(cue.actor, end.returned()); });
  }
  /// Whether the caller has it is as it should be.
  void expect_mutex(std::size_t actor, bool held) {
    if (mutex_.is_held_by_caller() != held) {
      stage.complain(held ? "CAP: a call has ended without its mutex" + stage.where(actor)
                          : "CAP: a call has failed, and has the mutex" + stage.where(actor));
    }
    if (!held) expect_gone(mutex_, actor);
  }

  /// Has the mutex; the model knows.
  class Inside {
   public:
    Inside(Locks& of, const Cue& cue) : locks_(of), actor_(cue.actor) {
      locks_.lock_in_turn(cue);
      enter();
    }
    /// Has it already.
    Inside(Locks& of, std::size_t actor) : locks_(of), actor_(actor) { enter(); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() {
      if (is_inside_) leave();
      locks_.mutex_.unlock();
    }

    void enter() {
      locks_.stage.complain(locks_.mutex_model_.taken(actor_, 1));
      is_inside_ = true;
    }
    void leave() {
      locks_.mutex_model_.given_back(1);
      is_inside_ = false;
    }

   private:
    Locks& locks_;
    std::size_t actor_;
    bool is_inside_ = false;
  };

  void lock(const Cue& cue) {
    if (cue.number != 15) {
      const Inside inside(*this, cue);
      return spend_time(cue);
    }
    if (!mutex_.try_lock()) return;
    const Inside inside(*this, cue.actor);
    spend_time(cue);
  }

  // --- the semaphore ---

  [[nodiscard]] Due due_of_permits(std::size_t count) const {
    if (count > permits_model_.spare() || somebody_sleeps(semaphore_line_)) return Due::Later;
    return semaphore_line_.line().empty() ? Due::Now : Due::Unknown;
  }

  void acquire(const Cue& cue) {
    const std::size_t count = 1 + cue.number % permits_;
    wanted_[cue.actor] = count;
    in_turn(
        cue, semaphore_line_, due_of_permits(count),
        [&] { semaphore_.acquire(count, cue.patience); },
        [&](const Ending& end) {
          if (end.returned()) stage.complain(permits_model_.taken(cue.actor, count));
          expect_gone(semaphore_, cue.actor);
          check_permits();
        });
    struct Back {
      ~Back() {
        locks.permits_model_.given_back(count);
        locks.semaphore_.release(count);
        locks.check_permits();
      }
      Locks& locks;
      std::size_t count;
    } const back{*this, count};
    spend_time(cue);
  }

  // What nobody holds is available, or promised to one who is on its way. When nobody is, who has
  // slept longest wants more than is available.
  void check_permits() {
    const std::size_t available = semaphore_.available();
    const auto& line = semaphore_line_.line();
    if (available > permits_model_.spare()) stage.complain(permits_model_.recount(available));
    if (!std::all_of(line.begin(), line.end(), sleeping())) return;
    stage.complain(permits_model_.recount(available));
    if (!line.empty() && wanted_[line.front()] <= available) {
      stage.complain("CORE-GL-08 (WAKE): there is enough for one who sleeps at " +
                     semaphore_.info());
    }
  }

  // --- the conditions ---

  void produce(const Cue& cue) {
    const Inside inside(*this, cue);
    ++items_;
    not_empty_.notify_one();
    changed_.notify_all();
  }

  /// Waits at `condition` with the mutex; `due` is asked when the caller has it.
  template <class DueOf, class Wait>
  void at_condition(const Cue& cue, const Condition& condition, DueOf due, Wait wait) {
    Inside inside(*this, cue);
    const Counted counted(at_conditions_);
    const Due expected = due();
    inside.leave();
    call(cue, expected, wait, [&](const Ending& end) {
      if (end.forced()) return;
      inside.enter();
      expect_mutex(cue.actor, true);
      expect_gone(condition, cue.actor);
    });
  }

  void consume(const Cue& cue) {
    const Counted counted(consumers_);
    const auto is_satisfied = [this] { return items_ > 0 || closing_; };
    at_condition(
        cue, not_empty_, [&] { return is_satisfied() ? Due::Now : Due::Later; },
        [&] {
          const auto look = [&] {
            expect_mutex(cue.actor, true);
            return is_satisfied();
          };
          not_empty_.wait(mutex_, look, cue.patience);
          if (items_ > 0) --items_;
        });
  }

  void await_change(const Cue& cue) {
    if (closing_) return;
    at_condition(
        cue, changed_, [this] { return closing_ ? Due::Now : Due::Later; },
        [&] {
          if (!closing_) changed_.wait(mutex_, cue.patience);
        });
  }

  // --- once, and all together ---

  void do_once(const Cue& cue) {
    const Counted counted(once_callers_);
    const auto once = [&] {
      stage.complain(once_model_.begun());
      struct End {
        ~End() { model.ended(success); }
        models::OnceModel& model;
        bool success = false;
      } end{once_model_};
      spend_time(cue);
      if (cue.number % 4 == 3) throw PlannedError(cue.number);
      end.success = true;
    };
    call(
        cue, once_model_.is_done() ? Due::Now : Due::Unknown,
        [&] { once_.call(once, cue.patience); },
        [&](const Ending& end) {
          if (end.returned()) stage.complain(once_model_.returned());
          if (!end.forced()) expect_gone(once_, cue.actor);
        });
  }

  void arrive(const Cue& cue) {
    if (closing_) return;
    const bool at_once = barrier_model_.is_broken() || barrier_model_.wants_one();
    const bool takes_part = !barrier_model_.is_broken() && !has_fired(cue.patience.token);
    const Counted counted(at_barrier_);
    const std::optional<std::size_t> round =
        takes_part ? std::optional(barrier_model_.arrived()) : std::nullopt;
    try {
      call(
          cue, at_once ? Due::Now : Due::Later, [&] { barrier_.arrive_and_wait(cue.patience); },
          [&](const Ending& end) {
            if (!end.forced()) arrived(cue.actor, round, end);
          });
    } catch (const BrokenBarrier&) {
    }
  }
  void arrived(std::size_t actor, std::optional<std::size_t> round, const Ending& end) {
    if (end.returned()) {
      stage.complain(round ? barrier_model_.passed(*round)
                           : "BARRIER: a party has arrived at a broken one");
    } else if (round && end.way == Way::Refused) {
      stage.complain(barrier_model_.refused(*round));
    } else if (round) {
      barrier_model_.gave_up(*round);
    }
    if (barrier_.is_broken() != barrier_model_.is_broken()) {
      stage.complain("BARRIER (recount): " + barrier_.info() + stage.where(actor));
    }
    expect_gone(barrier_, actor);
  }

  void reset() {
    barrier_model_.reset();
    barrier_.reset();
  }

  void check_counts() {
    stage.complain(permits_model_.recount(semaphore_.available()));
    stage.complain(mutex_model_.recount(mutex_.is_locked() ? 0 : 1));
  }

  const std::size_t permits_ = 1 + stage.script().shape[0] % 4u;
  const std::size_t parties_ = 1 + stage.script().shape[1] % stage.actor_count();

  Mutex mutex_{"mutex"};
  models::PermitModel mutex_model_{1};
  models::LineModel mutex_line_;

  Semaphore semaphore_{"semaphore", permits_};
  models::PermitModel permits_model_{permits_};
  models::LineModel semaphore_line_;
  std::vector<std::size_t> wanted_ = std::vector<std::size_t>(stage.actor_count());

  Condition not_empty_{"not empty"};
  Condition changed_{"changed"};
  std::size_t items_ = 0;
  std::size_t at_conditions_ = 0;
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
