// SPDX-License-Identifier: Apache-2.0
#include "properties/scripts/call.hpp"

#include <fmt/format.h>

#include <utility>

#include "properties/scripts/stage.hpp"

namespace fermata::properties {
namespace {

Way way_of(const std::exception_ptr& error) {
  if (!error) return Way::Returned;
  try {
    std::rethrow_exception(error);
  } catch (const ForcedUnwind&) {
    return Way::Forced;
  } catch (const OperationCancelled&) {
    return Way::TokenFired;
  } catch (const Cancellation&) {
    return Way::Cancelled;
  } catch (const Timeout&) {
    return Way::TimedOut;
  } catch (...) {
    return Way::Refused;
  }
}

/// The error that an OperationCancelled carries as its cause; null when it has none.
std::exception_ptr cause_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Cancellation& cancellation) {
    return cancellation.previous();
  }
}

std::uint64_t ticks() { return current_runtime().metrics().ticks; }

}  // namespace

Call::Call(Stage& stage, const Cue& cue, Due due)
    : stage_(stage),
      actor_(cue.actor),
      patience_(cue.patience),
      due_(due),
      fired_before_(has_fired(cue.patience.token)),
      start_(now()),
      ticks_(ticks()),
      outer_(std::exchange(stage.call_of(actor_), this)) {}

Call::~Call() { stage_.call_of(actor_) = outer_; }

Ending Call::ended(const std::exception_ptr& error) const {
  const Ending ending{way_of(error), ticks() != ticks_};
  if (ending.forced()) return ending;
  for (const auto& complaint : {judge(ending), judge_limits(ending, error)}) {
    if (!complaint.empty()) stage_.complain(complaint + stage_.where(actor_));
  }
  return ending;
}

models::Complaint Call::judge(const Ending& ending) const {
  const bool at_once = due_ == Due::Now || due_ == Due::Kept;
  if (ending.suspended && (at_once || fired_before_)) {
    return "CORE-GL-08 (WAKE): a call was suspended that had its answer";
  }
  const bool never_parks = patience_.timeout == Duration::zero() && due_ != Due::Unknown;
  if (ending.suspended && never_parks) {
    return "CORE-CN-07 (TIME): a call with a timeout of zero was suspended";
  }
  if (due_ == Due::Later && !ending.suspended && ending.returned()) {
    return "CORE-WK-07 (ONCE): a call has returned at once, and there was nothing for it";
  }
  if (ending.suspended && stage_.owes_cancellation(actor_) && ending.way != Way::Cancelled) {
    return "CORE-CN-11 (CANC): a call was cancelled, and has ended as if it were not";
  }
  const bool gave_up = ending.way == Way::TimedOut || ending.way == Way::TokenFired;
  if (gave_up && (due_ == Due::Kept || (due_ == Due::Now && !fired_before_))) {
    return "CORE-AW-07 (CANC): a call gave up that had its answer";
  }
  return {};
}

// Whether there was a reason to give up.
models::Complaint Call::judge_limits(const Ending& ending, const std::exception_ptr& error) const {
  if (ending.way == Way::TimedOut) {
    if (!patience_.timeout) return "CORE-CN-07 (TIME): a call without a timeout has timed out";
    if (now() < start_ + *patience_.timeout) return "CORE-CN-07 (TIME): a timeout came early";
  }
  if (ending.way != Way::TokenFired) return {};
  if (!has_fired(patience_.token)) {
    return "CORE-CN-02 (CANC): a call was given up for a token that has not fired";
  }
  const Outcome* const outcome = patience_.token->replay();
  const bool failed = outcome != nullptr && outcome->error;
  if (failed != (cause_of(error) != nullptr)) {
    return "CORE-CN-04 (ERR): a call that was given up does not say how its token ended";
  }
  return {};
}

models::Complaint Call::at_rest() const {
  const auto* const deadline = dynamic_cast<const backend::TimeoutEvent*>(patience_.token);
  const bool passed = deadline != nullptr && !deadline->is_cancelled();
  if (!patience_.timeout && !passed && !has_fired(patience_.token)) return {};
  return "CORE-CN-07 (WAKE): a call waits on, and its patience is at an end" + stage_.where(actor_);
}

}  // namespace fermata::properties
