// SPDX-License-Identifier: Apache-2.0
#include "properties/scripts/stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <list>
#include <optional>

#include "properties/scripts/crowd.hpp"

namespace fermata::properties {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Longer than all naps and timeouts of a script together.
constexpr Duration kRest = seconds(60);

/// Later than faults and computing make a timer.
constexpr Duration kVeryLate = milliseconds(500);

}  // namespace

/// A step that an actor takes in the destructor of a local variable, where no cancellation comes.
class Stage::LastStep {
 public:
  LastStep(Stage& stage, std::size_t index, const Step& step)
      : stage_(stage), index_(index), step_(step) {}
  LastStep(const LastStep&) = delete;
  LastStep& operator=(const LastStep&) = delete;
  ~LastStep() {
    if (stage_.playing_ == nullptr) return;
    stage_.actors_[index_].in_destructor = true;
    try {
      protect_in_destructor([this] { stage_.take(*stage_.playing_, index_, step_); });
    } catch (const ForcedUnwind&) {
    }
  }

 private:
  Stage& stage_;
  std::size_t index_;
  Step step_;
};

void Stage::play(Subject& subject, const std::shared_ptr<void>& owner) {
  self_ = std::shared_ptr<Stage>(owner, this);
  playing_ = &subject;
  struct Played {
    Subject*& playing;
    ~Played() { playing = nullptr; }
  } const played{playing_};
  const Crowd crowd(*this, script_.crowd);
  actors_.resize(actor_count());
  for (std::size_t i = 0; i < actor_count(); ++i) {
    actors_[i].coroutine =
        spawn(fmt::format("actor {}", i), [this, &subject, i, owner] { act(subject, i); });
  }
  delay(kRest);
  check_patience();
  subject.at_rest();
  subject.let_go();
  delay(kRest);
  const std::string asleep = sleepers();
  if (!asleep.empty()) {
    complain("WAKE: everybody was let go, but there sleeps on " + asleep);
    for (Actor& actor : actors_) actor.coroutine.cancel();
  }
  join();
  playing_ = nullptr;
  subject.at_end();
}

std::optional<std::size_t> Stage::current_actor() const {
  for (std::size_t i = 0; i < actors_.size(); ++i) {
    if (actors_[i].coroutine && &actor(i) == current_runtime().current()) return i;
  }
  return {};
}

// An actor that was cancelled before its start, or by itself, ends with the cancellation.
void Stage::join() {
  for (const Actor& actor : actors_) {
    try {
      await(actor.coroutine);
    } catch (const Cancellation&) {
    }
  }
}

void Stage::act(Subject& subject, std::size_t index) {
  std::list<LastStep> last_steps;
  for (const Step& step : script_.actors[index]) {
    const auto host = is_common(step) ? std::nullopt : std::exchange(actors_[index].host, {});
    if (!host) {
      if (!take(subject, index, step)) return;
    } else if (const Operation& what = operations_[operation_of(step)];
               what.anywhere && !is_the_actor(*host)) {
      leave_to(*host, parting(what, {index, step.number, {}}));
    } else {
      last_steps.emplace_front(*this, index, step);
    }
  }
}

SharedParting Stage::parting(const Operation& what, const Cue& cue) {
  return std::make_shared<Parting>([self = self_, &what, cue] {
    const auto stage = self.lock();
    if (!stage || stage->playing_ == nullptr) return;
    try {
      stage->playing_->perform(what, cue);
    } catch (const std::exception& error) {
      stage->complain(fmt::format("ERR: '{}' at the end of something got an error: {}", what.name,
                                  error.what()));
    }
  });
}

SharedParting Stage::parting(const Cue& cue) {
  const auto can_be = static_cast<std::size_t>(
      std::count_if(operations_.begin(), operations_.end(), std::mem_fn(&Operation::anywhere)));
  if (can_be == 0) return nullptr;
  std::size_t left = (cue.number + cue.actor) % can_be;
  const auto what =
      std::find_if(operations_.begin(), operations_.end(),
                   [&](const Operation& each) { return each.anywhere && left-- == 0; });
  return parting(*what, cue);
}

bool Stage::take(Subject& subject, std::size_t index, const Step& step) {
  Actor& me = actors_[index];
  try {
    if (is_common(step)) {
      perform_common(me, step);
    } else {
      const Operation& operation = operations_[operation_of(step)];
      me.doing = operation.name;
      subject.perform(operation, {index, step.number, limits_.options(step.subject, step.number)});
    }
  } catch (const PlannedError&) {
    return false;
  } catch (const Timeout&) {
  } catch (const OperationCancelled&) {
  } catch (const Cancellation& cancellation) {
    me.owed = me.asks_itself = false;
    if (me.in_destructor) {
      complain("CORE-GL-15 (CANC): a cancellation reaches a destructor" + where(index));
    }
    if (++me.cancelled > me.cancels) {
      complain(fmt::format("CORE-CN-02 (CANC): actor {} got '{}', and nobody has asked for it",
                           index, cancellation.what()));
    }
    return step.number % 2 == 0;  // Some go on after they were cancelled.
  } catch (const std::exception& error) {
    complain(
        fmt::format("ERR: actor {} got an error that nobody expects: {}", index, error.what()));
  }
  if (!is_common(step)) me.owed = false;
  return true;
}

void Stage::perform_common(Actor& me, const Step& step) {
  switch (static_cast<Common>(step.what)) {
    case Common::Pause:
      return suspend();
    case Common::Nap:
      return nap(milliseconds(step.number));
    case Common::Cancel: {
      Actor& whom = actors_[step.number % actor_count()];
      if (!whom.coroutine->is_closed()) {
        ++whom.cancels;
        whom.asks_itself = whom.asks_itself || &*whom.coroutine == current_runtime().current();
        whom.owed = !whom.asks_itself;
      }
      return whom.coroutine.cancel();
    }
    case Common::Throw:
      throw PlannedError(step.number);
    case Common::Fire:
      return limits_.fire(step.number);
    case Common::Leave:
      me.host = step.number;
  }
}

void Stage::nap(Duration span) {
  const Instant due = now() + span;
  delay(span);
  if (now() < due) complain("TMR-01 (TIME): a nap ended early");
  if (now() > due + kVeryLate && !struck(sim::Fault::Pause)) {
    complain("TMR-01 (TIME): a nap ended far too late");
  }
}

void Stage::check_patience() {
  for (std::size_t i = 0; i < actor_count(); ++i) {
    if (actors_[i].call != nullptr && parked(i)) complain(actors_[i].call->at_rest());
  }
}

std::string Stage::where(std::size_t index) const {
  return fmt::format(" [actor {}: {}]", index, actors_[index].doing);
}

std::string Stage::sleepers() const {
  std::string text;
  for (const Actor& actor : actors_) {
    if (actor.coroutine->is_closed()) continue;
    if (!text.empty()) text += ", ";
    text += actor.coroutine->label();
    for (const std::string& event : actor.coroutine->awaiting()) text += " at " + event;
  }
  return text;
}

void Stage::complain(const models::Complaint& complaint) {
  if (!complaint.empty()) world_.fail(sim::Verdict::Safety, complaint);
}

}  // namespace fermata::properties
