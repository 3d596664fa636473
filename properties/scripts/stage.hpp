// SPDX-License-Identifier: Apache-2.0
#pragma once

// One run of a script: actors that perform its steps, a subject that knows what each step must come
// to, and an end in four acts: everything comes to rest, the subject is checked at rest, it lets
// everybody go, and what has happened is checked as a whole.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fermata/runtime.hpp"
#include "fermata/sim/world/world.hpp"
#include "properties/interpreter/state.hpp"
#include "properties/models/complaint.hpp"
#include "properties/scripts/call.hpp"
#include "properties/scripts/causes.hpp"
#include "properties/scripts/parting.hpp"
#include "properties/scripts/script.hpp"
#include "properties/scripts/wait_limits.hpp"

namespace fermata::properties {

class Stage;

/// One step of an actor.
struct Cue {
  std::size_t actor;
  std::uint8_t number;
  /// How long it waits at most.
  WaitOptions patience;
};

/// A primitive under test beside its model; made for each run, inside it. Its operations() are what
/// actors do with it.
class Subject {
 public:
  explicit Subject(Stage& on) : stage(on) {}
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  virtual ~Subject() = default;

  /// Carries out an operation in the coroutine of the actor. It tells the model how the operation
  /// ended and then lets the exception go on. May suspend.
  virtual void perform(const Operation& operation, const Cue& cue) {
    if (!is_ending) operation.carry_out(*this, cue);
  }

  /// Nothing can happen any more: whoever waits must have reason to.
  virtual void at_rest() {}

  /// Lets everybody go who still waits, as closing does. May suspend.
  virtual void let_go() {}

  /// Every actor has ended.
  virtual void at_end() {}

 protected:
  /// A call with the patience of `cue`; see whatever_the_end.
  template <class Action, class Law>
  decltype(auto) call(const Cue& cue, Due due, Action action, Law law) {
    return whatever_the_end(stage, cue, due, std::move(action), std::move(law));
  }

  Stage& stage;
  bool is_ending = false;  // Nothing is performed any more.
};

/// An operation that is a member function of the subject. It takes nothing; or the cue; or the cue
/// and `constants`; or the cue and what choose(cue, use) of the subject calls `use` with.
template <auto action, auto... constants>
void does(Subject& subject, const Cue& cue) {
  [&]<class S, class... Arguments>(void (S::*)(Arguments...)) {
    S& it = static_cast<S&>(subject);
    if constexpr (sizeof...(Arguments) == 0) {
      (it.*action)();
    } else if constexpr (sizeof...(Arguments) == 1 + sizeof...(constants)) {
      (it.*action)(cue, constants...);
    } else {
      it.choose(cue, [&](auto&... chosen) { (it.*action)(cue, chosen...); });
    }
  }(action);
}

class Stage {
 public:
  Stage(const Script& script, std::span<const Operation> operations, sim::World& world)
      : script_(script), operations_(operations), world_(world), causes_(world) {}
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// Carries out the script. Called in the main coroutine of a node; suspends. Each actor shares
  /// `owner`, which keeps this and the subject: a run that fails is unwound from the main
  /// coroutine.
  void play(Subject& subject, const std::shared_ptr<void>& owner);

  /// What carries out an operation at its end, whoever ends it, unless the script is over by then:
  /// one of those that can be carried out anywhere, as `cue` chooses; null when there is none.
  [[nodiscard]] SharedParting parting(const Cue& cue);
  /// Carries out such an operation at once. For handlers of the subject.
  void react(const Cue& cue) { parting(cue).reset(); }

  /// Something is wrong: the run fails with the first complaint. An empty one is none.
  void complain(const models::Complaint& complaint);

  [[nodiscard]] const Script& script() const noexcept { return script_; }
  [[nodiscard]] sim::World& world() const noexcept { return world_; }
  [[nodiscard]] std::size_t actor_count() const noexcept { return script_.actors.size(); }
  [[nodiscard]] CoroutineBase& actor(std::size_t index) const { return *actors_[index].coroutine; }
  /// The one in whose coroutine this is called; none in another coroutine.
  [[nodiscard]] std::optional<std::size_t> current_actor() const;

  /// Whether the actor is suspended now, and in no way on its way back.
  [[nodiscard]] bool parked(std::size_t index) const {
    return actor(index).waker().status == backend::WakerStatus::Waiting;
  }

  /// The innermost call that an actor is in; null for none.
  [[nodiscard]] Call*& call_of(std::size_t index) { return actors_[index].call; }
  /// Whether somebody else has asked the actor to stop, in its present step, and it has not been
  /// told. (Who asks itself is told when it is suspended outside of all protection; who is in a
  /// destructor is not told.)
  [[nodiscard]] bool owes_cancellation(std::size_t index) const {
    return actors_[index].owed && !actors_[index].in_destructor;
  }
  /// " [actor 3: send]", for complaints.
  [[nodiscard]] std::string where(std::size_t index) const;

  /// Whether a kind of fault has struck in this run.
  [[nodiscard]] bool struck(sim::Fault fault) const {
    return world_.fault_counts()[static_cast<std::size_t>(fault)] > 0;
  }
  /// What may end one thing, and has not ended another one.
  [[nodiscard]] Causes& causes() noexcept { return causes_; }

 private:
  struct Actor {
    Coroutine<> coroutine;
    unsigned cancels = 0;      // Asked for.
    unsigned cancelled = 0;    // Delivered.
    bool asks_itself = false;  // For one that has not come: then others add nothing (CORE-CO-05).
    bool owed = false;         // One that somebody else has asked for in this step.
    bool in_destructor = false;
    std::optional<std::uint8_t> host;  // Its next operation is left to the end of that.
    Call* call = nullptr;
    std::string_view doing;  // Its operation.
  };

  class LastStep;

  void act(Subject& subject, std::size_t index);
  [[nodiscard]] SharedParting parting(const Operation& what, const Cue& cue);
  void check_patience();
  void join();
  /// Returns whether the actor goes on.
  bool take(Subject& subject, std::size_t index, const Step& step);
  void perform_common(Actor& me, const Step& step);
  void nap(Duration span);
  [[nodiscard]] std::string sleepers() const;

  const Script& script_;
  std::span<const Operation> operations_;
  sim::World& world_;
  Causes causes_;
  std::vector<Actor> actors_;
  WaitLimits limits_;
  std::weak_ptr<Stage> self_;
  Subject* playing_ = nullptr;  // Null when no operation is to be carried out.
};

}  // namespace fermata::properties
