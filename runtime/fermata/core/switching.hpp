// SPDX-License-Identifier: Apache-2.0
#pragma once

// The hot path: from a coroutine that gives up control to the next one. Internal to the runtime.
//
// A function that returns between two switches may be mispredicted (context/jump.hpp): all of this
// is one function, together with the wait that it is a part of, and what is rare is kept out of it.

#include "fermata/base/assert.hpp"
#include "fermata/base/inlining.hpp"
#include "fermata/context/switch.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/scheduler.hpp"
#include "fermata/core/suspend.hpp"

namespace fermata::detail {

FERMATA_HOT CoroutineBase& Scheduler::suspendable(const char* operation) const {
  if (!in_scheduler_context_ && kernel_.no_suspend == 0) [[likely]] {
    return *current_;
  }
  refuse_suspend(operation);
}

// The end of a step: who has control next, null for nobody; `leaving` is the coroutine that gives
// it up. Whoever is returned may have no context yet.
FERMATA_HOT CoroutineBase* Scheduler::tick(CoroutineBase* leaving) {
  in_scheduler_context_ = true;
  if (++metrics_.ticks >= attention_at_) [[unlikely]] {
    return attend(leaving);
  }
  return take_head();
}

FERMATA_HOT CoroutineBase* Scheduler::take_head() {
  if (ready_.empty()) return nullptr;
  CoroutineBase& head = ready_[0];
  if (head.waker_.status == backend::WakerStatus::Ignored) [[unlikely]] {
    return pick();
  }
  ready_.pop_front();
  head.waker_.status = backend::WakerStatus::Result;
  return &head;
}

FERMATA_HOT CoroutineBase* Scheduler::with_context(CoroutineBase* next) {
  while (next != nullptr && next->context_ == nullptr && !give_context(*next)) next = pick();
  return next;
}

// With many coroutines each switch would wait for memory three times in a row: for the coroutine,
// its context, and its stack. Brought in by turns, they are there when their switch comes.
FERMATA_HOT void Scheduler::look_ahead() const {
  constexpr std::size_t kCoroutine = 9, kContext = 6, kStack = 3;  // How far ahead.
  constexpr std::size_t kStackBytes = 7 * 64;  // What a wait and its caller use, about.
  if (ready_.size() <= kCoroutine) return;
  __builtin_prefetch(&ready_[kCoroutine].context_, 1);
  __builtin_prefetch(ready_[kContext].context_, 1);
  const StackContext* const context = ready_[kStack].context_;
  if (context == nullptr || context->registers == nullptr) return;
  const auto* top = static_cast<const std::byte*>(context->registers);
// Seven hints are shorter than the loop that would give them.
#pragma GCC unroll 7
  for (std::size_t at = 0; at < kStackBytes; at += 64) __builtin_prefetch(top + at, 1);
}

FERMATA_HOT void Scheduler::switch_to(CoroutineBase* next) {
  StackContext& from = *running_;
  current_ = next;
  running_ = next != nullptr ? next->context_ : scheduler_context_;
  FERMATA_ASSERT(running_ != &from);
  ++metrics_.switches;
  switch_context(from, *running_);
}

FERMATA_HOT void Scheduler::park(CoroutineBase& me, const SourcePlace& place) {
  if (me.extras_ != nullptr) [[unlikely]] {
    call_switch_handlers(me, backend::SwitchMoment::Leave);
  }
  me.waker_.place = &place;
  kernel_.trace(backend::Trace::Left, &me, 0);
  CoroutineBase* const next = with_context(tick(&me));
  if (next == &me) return;
  look_ahead();
  switch_to(next);
}

FERMATA_HOT void Scheduler::regains_control(CoroutineBase& me) {
  in_scheduler_context_ = false;
  me.waker_.place = nullptr;
  kernel_.trace(backend::Trace::Entered, &me, 0);
  if (me.extras_ != nullptr) [[unlikely]] {
    call_switch_handlers(me, backend::SwitchMoment::Enter);
  }
}

FERMATA_HOT void Scheduler::wait_until_answered(CoroutineBase& me, bool start,
                                                const SourcePlace& place) {
  if (me.waker_.status == backend::WakerStatus::None) {
    if (me.has(CoroutineBase::kUnwinding)) [[unlikely]] {
      refuse_wait(me, place);
    }
    me.waker_.status = backend::WakerStatus::Waiting;
    if (start && !me.waker_.start_again(kernel_)) start_events(me);
  }
  if (me.waker_.status != backend::WakerStatus::Result) {
    if (me.has_pending()) [[unlikely]] {
      raise_pending(me, place);
    }
    park(me, place);
    regains_control(me);
  }
}

FERMATA_HOT std::exception_ptr Scheduler::suspend_within(const SourcePlace& place) {
  CoroutineBase& me = suspendable("wait");
  if (me.waker_.status == backend::WakerStatus::None && me.waker_.empty()) return nullptr;
  wait_until_answered(me, true, place);
  return me.waker_.error ? me.waker_.take_error() : nullptr;
}

FERMATA_HOT CoroutineBase& Scheduler::answered_by(Event& event, const SourcePlace& place) {
  CoroutineBase& me = suspendable("wait");
  FERMATA_REQUIRE(&event != &me, "a coroutine cannot await itself");
  FERMATA_REQUIRE(me.waker_.empty(), "wait: the coroutine has registered other events already");
  event.mark_result_used();
  me.waker_.add(event, backend::WakeRule::Resolve, kernel_);
  wait_until_answered(me, event.is_startable(), place);
  return me;
}

FERMATA_HOT void* Scheduler::wait_within(Event& event, const SourcePlace& place) {
  FERMATA_ASSERT(!event.is_closed());
  CoroutineBase& me = answered_by(event, place);
  if (me.waker_.error) [[unlikely]] {
    throw_wait_error(me);
  }
  void* result = me.waker_.result;
  me.waker_.clear();
  return result;
}

FERMATA_HOT std::exception_ptr Scheduler::wait_for_end_within(Event& event,
                                                              const SourcePlace& place) {
  FERMATA_ASSERT(!event.is_closed());
  CoroutineBase& me = answered_by(event, place);
  if (me.waker_.error) [[unlikely]] {
    return me.waker_.take_error();
  }
  me.waker_.clear();
  return nullptr;
}

FERMATA_HOT void* wait_within(Event& event, const WaitOptions& options, const SourcePlace& place) {
  if (!options.timeout && options.token == nullptr && !event.is_closed()) [[likely]] {
    return current_runtime().scheduler().wait_within(event, place);
  }
  return wait_with(event, options, place);
}

FERMATA_HOT std::exception_ptr wait_for_end_within(Event& event, const WaitOptions& options,
                                                   const SourcePlace& place) {
  if (!options.timeout && options.token == nullptr && !event.is_closed()) [[likely]] {
    return current_runtime().scheduler().wait_for_end_within(event, place);
  }
  void* no_result = nullptr;
  return wait_with(event, options, place, no_result);
}

}  // namespace fermata::detail
