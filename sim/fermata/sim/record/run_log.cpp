// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/record/run_log.hpp"

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/coroutine.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/sim/base/stack_text.hpp"

namespace fermata::sim {
namespace {

std::string what_it_waits_for(const CoroutineBase& coroutine) {
  std::string text;
  for (const std::string& each : coroutine.awaiting()) {
    text += (text.empty() ? "" : " or ") + each;
  }
  return text;
}

RunLog::Ending ending_of(const CoroutineBase& coroutine) {
  FERMATA_ASSERT(coroutine.is_closed());
  if (fermata::detail::Scheduler::unwound(coroutine)) return RunLog::Ending::Unwound;
  if (!coroutine.error()) return RunLog::Ending::Ends;
  return is_cancellation(coroutine.error()) ? RunLog::Ending::Cancelled : RunLog::Ending::Fails;
}

}  // namespace

void RunLog::note(std::string_view machine, backend::Trace kind, const CoroutineBase& coroutine,
                  std::uint64_t detail, Instant at, Instant clock, std::uint64_t step) {
  const std::size_t lane = lane_of(machine, coroutine);
  switch (kind) {
    case backend::Trace::Started:
    case backend::Trace::Entered:
      return begin(lane, at, clock, step);
    case backend::Trace::Left:
      return suspend(lane, coroutine);
    case backend::Trace::Finished:
      return finish(lane, coroutine);
    case backend::Trace::Enqueued:
    case backend::Trace::Cancelled:
      return wake(machine, lane, static_cast<backend::WakeCause>(detail));
    default:
      return;
  }
}

void RunLog::step_over(std::string_view machine) {
  const auto found = present_steps_.find(machine);
  if (found != present_steps_.end()) present_steps_.erase(found);
}

void RunLog::note_cause(std::string_view machine, std::size_t lane) {
  FERMATA_ASSERT(lane < causes_.size());
  Cause& cause = causes_[lane];
  if (arriving_ != 0) {
    cause.received.push_back(arriving_);
  } else if (present_step(machine) != nullptr) {
    cause.woken_by = present_steps_.find(machine)->second.ordinal;
  }
}

void RunLog::wake(std::string_view machine, std::size_t lane, backend::WakeCause cause) {
  note_cause(machine, lane);
  Step* const step = present_step(machine);
  if (step == nullptr) return;
  FERMATA_ASSERT(lane < lanes_.size());
  const bool is_told = !step->woken.empty() && step->woken.back().lane == lane &&
                       step->woken.back().cause == cause;  // Who is cancelled is woken, too.
  if (!is_told) step->woken.push_back(Wake{lane, cause});
  if (cause != backend::WakeCause::Spawn) return;
  FERMATA_ASSERT(step->lane != lane);
  lanes_[lane].parent = step->lane;
}

void RunLog::decided(const Decision& decision) {
  FERMATA_ASSERT(turns_.empty() || turns_.back().decision.index < decision.index);
  Turn turn;
  turn.decision = decision;
  turn.step = forgotten_ + steps_.size();
  if (decision.is_pick) {
    turn.chosen = suspended(decision.value);
    turn.passed_over = suspended(decision.subject);
  }
  turns_.push_back(std::move(turn));
}

void RunLog::record_incident(Disturbance disturbance) {
  FERMATA_ASSERT(!disturbance.kind.empty());
  if (disturbances_.size() == kMostDisturbances) disturbances_.pop_front();
  FERMATA_ASSERT(disturbances_.size() < kMostDisturbances);
  disturbance.step = forgotten_ + steps_.size();
  disturbances_.push_back(std::move(disturbance));
}

std::optional<RunLog::CallId> RunLog::called(std::string_view machine, std::string text) {
  FERMATA_ASSERT(!text.empty());
  Step* const step = present_step(machine);
  if (step == nullptr) return std::nullopt;
  step->calls.push_back(std::move(text));
  return CallId{present_steps_.find(machine)->second.ordinal, step->calls.size() - 1};
}

void RunLog::answered(const CallId& call, std::string_view text) {
  if (call.step < forgotten_) return;
  Step& step = steps_[call.step - forgotten_];
  FERMATA_ASSERT(call.index < step.calls.size());
  step.calls[call.index] += text;
}

MessageLog::Id RunLog::sent(std::string_view machine, Message message, const void* bytes,
                            std::size_t size) {
  if (const Step* const step = present_step(machine)) {
    message.step = present_steps_.find(machine)->second.ordinal;
    message.calls = step->calls.size();
  }
  return message_log_.sent(std::move(message), bytes, size);
}

void RunLog::printed(std::string_view machine, std::string_view text, bool continues, Instant at) {
  FERMATA_ASSERT(text.find('\n') == std::string_view::npos);
  if (!continues || lines_.empty()) {
    if (lines_.size() == kMostLines) lines_.pop_front();
    Line line;
    line.machine = machine;
    line.at = at;
    line.step = forgotten_ + steps_.size();
    if (const Step* const step = present_step(machine); step != nullptr && is_open(machine)) {
      line.lane = step->lane;
      line.step = present_steps_.find(machine)->second.ordinal;
      line.woken = step->woken.size();
    }
    lines_.push_back(std::move(line));
  }
  std::string& kept = lines_.back().text;
  FERMATA_ASSERT(kept.size() <= kMostOfLine);
  kept += text.substr(0, kMostOfLine - kept.size());
}

void RunLog::ended(Instant end, std::uint64_t trace_hash) {
  end_ = end;
  trace_hash_ = trace_hash;
  message_log_.finish(end);
}

RunLog::Step* RunLog::present_step(std::string_view machine) {
  const auto found = present_steps_.find(machine);
  if (found == present_steps_.end() || found->second.ordinal < forgotten_) return nullptr;
  const std::size_t place = found->second.ordinal - forgotten_;
  FERMATA_ASSERT(place < steps_.size());
  return &steps_[place];
}

bool RunLog::is_open(std::string_view machine) const {
  const auto found = present_steps_.find(machine);
  return found != present_steps_.end() && !found->second.over;
}

RunLog::Step* RunLog::open_step(std::string_view machine, std::size_t lane) {
  Step* const step = present_step(machine);
  if (step == nullptr || step->lane != lane) return nullptr;
  return std::exchange(present_steps_.find(machine)->second.over, true) ? nullptr : step;
}

std::size_t RunLog::lane_of(std::string_view machine, const CoroutineBase& coroutine) {
  const auto [found, is_new] = lane_by_path_.emplace(coroutine.path(), lanes_.size());
  if (is_new) {
    std::string name = coroutine.label();
    auto& namesakes = namesakes_[std::string(machine)];
    if (coroutine.is_main()) namesakes.clear();
    const std::size_t number = ++namesakes[name];
    if (number > 1) name += " #" + std::to_string(number);
    lanes_.push_back(Lane{.machine = std::string(machine),
                          .name = std::move(name),
                          .path = coroutine.path(),
                          .spawned = coroutine.spawn_place()});
    present_.push_back(
        Suspended{.lane = found->second, .begun = false, .place = coroutine.spawn_place()});
    causes_.emplace_back();
  }
  FERMATA_ASSERT(present_.size() == lanes_.size());
  FERMATA_ASSERT(found->second < lanes_.size());
  return found->second;
}

void RunLog::begin(std::size_t lane, Instant at, Instant clock, std::uint64_t step) {
  if (steps_.size() == kMostSteps) {
    steps_.pop_front();
    ++forgotten_;
  }
  FERMATA_ASSERT(steps_.size() < kMostSteps);
  FERMATA_ASSERT(lane < present_.size());
  Step next;
  next.number = step;
  next.lane = lane;
  next.at = at;
  next.clock = clock;
  Cause cause = std::exchange(causes_[lane], {});
  next.woken_by = cause.woken_by;
  next.received = std::move(cause.received);
  present_steps_.insert_or_assign(lanes_[lane].machine, Present{forgotten_ + steps_.size()});
  steps_.push_back(std::move(next));
  present_[lane].begun = true;
}

void RunLog::suspend(std::size_t lane, const CoroutineBase& coroutine) {
  FERMATA_ASSERT(coroutine.suspend_place() != nullptr);
  present_[lane].place = *coroutine.suspend_place();
  present_[lane].stack = present_stack();
  Step* const step = open_step(lanes_[lane].machine, lane);
  if (step == nullptr) return;
  step->place = *coroutine.suspend_place();
  step->reason = what_it_waits_for(coroutine);
  step->ending = coroutine.waker().empty() ? Ending::Yields : Ending::Waits;
}

void RunLog::finish(std::size_t lane, const CoroutineBase& coroutine) {
  Step* const step = open_step(lanes_[lane].machine, lane);
  if (step == nullptr) return;
  step->ending = ending_of(coroutine);
  if (coroutine.error()) step->reason = fermata::describe(coroutine.error());
}

std::optional<RunLog::Suspended> RunLog::suspended(std::uint64_t path) const {
  const auto found = lane_by_path_.find(path);
  if (found == lane_by_path_.end()) return std::nullopt;
  const Suspended& known = present_[found->second];
  FERMATA_ASSERT(known.lane == found->second);
  return known;
}

}  // namespace fermata::sim
