// SPDX-License-Identifier: Apache-2.0

// The hot path: from a coroutine that gives up control to the next one. jump_fcontext is entered by
// a call and left by a jump, so every function between the caller's code and the jump mispredicts
// its return: all of this is one function, and what is rare is kept out of it.

#include <fmt/format.h>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/base/inlining.hpp"
#include "fermata/context/switch.hpp"
#include "fermata/core/limit.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/scheduler.hpp"

namespace fermata::detail {

FERMATA_HOT CoroutineBase& Scheduler::suspendable(const char* operation) const {
  if (!in_scheduler_context_ && kernel_.no_suspend == 0) [[likely]] {
    return *current_;
  }
  refuse_suspend(operation);
}

bool Scheduler::can_suspend() const noexcept {
  return current_ != nullptr && !in_scheduler_context_ && kernel_.no_suspend == 0;
}

CoroutineBase& Scheduler::require_suspendable(const char* operation) const {
  return suspendable(operation);
}

FERMATA_COLD void Scheduler::refuse_suspend(const char* operation) const {
  throw UsageError(
      fmt::format("{}: the scheduler's own context and callbacks must not suspend", operation));
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

// The slow path of a tick.
CoroutineBase* Scheduler::attend(CoroutineBase* leaving) {
  FERMATA_ASSERT(in_scheduler_context_);
  microtasks_paused_ = false;
  if (has_native_work()) drain_microtasks();
  if (metrics_.ticks >= poll_at_) look();
  if (watched_) end_step();
  const bool answered =
      leaving != nullptr && leaving->waker_.status == backend::WakerStatus::Result;
  CoroutineBase* const next = answered ? leaving : pick();
  const bool soon = watched_ || abandoned_ || unwinding_ || has_native_work();
  attention_at_ = soon ? 0 : poll_at_;
  if (watchdog_ != nullptr) watchdog_->begin(next);
  return next;
}

CoroutineBase* Scheduler::pick() {
  while (!ready_.empty() && !abandoned_ && !unwinding_) {
    if (has_native_work() && !microtasks_paused_) {
      drain_microtasks();
      continue;
    }
    const bool choose = kernel_.chooser != nullptr && ready_.size() > 1;
    CoroutineBase& coroutine =
        choose ? ready_.take(kernel_.chooser->pick(ready_)) : ready_.pop_front();
    if (coroutine.waker_.status == backend::WakerStatus::Ignored) {
      finalize_unstarted(coroutine);
      continue;
    }
    FERMATA_ASSERT(coroutine.waker_.status == backend::WakerStatus::Queued);
    coroutine.waker_.status = backend::WakerStatus::Result;
    return &coroutine;
  }
  return nullptr;
}

FERMATA_HOT CoroutineBase* Scheduler::with_context(CoroutineBase* next) {
  while (next != nullptr && next->context_ == nullptr && !give_context(*next)) next = pick();
  return next;
}

// Without a stack the coroutine fails, and the others go on.
bool Scheduler::give_context(CoroutineBase& coroutine) {
  FERMATA_ASSERT(coroutine.context_ == nullptr);
  try {
    coroutine.context_ = &contexts_.acquire(&Scheduler::coroutine_context);
    coroutine.context_->owner = &coroutine;
    coroutine.context_->thread = running_->thread;
    return true;
  } catch (...) {
    CoroutineBase* const caller = std::exchange(current_, &coroutine);
    finalize(coroutine, std::current_exception());
    current_ = caller;
    return false;
  }
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
  for (std::size_t at = 0; at < kStackBytes; at += 64) __builtin_prefetch(top + at, 1);
}

FERMATA_HOT void Scheduler::switch_to(CoroutineBase& next) {
  StackContext& from = *running_;
  current_ = &next;
  running_ = next.context_;
  ++metrics_.switches;
  switch_context(from, *next.context_);
}

void Scheduler::switch_to_scheduler() {
  FERMATA_ASSERT(scheduler_context_ != nullptr);
  FERMATA_ASSERT(running_ != scheduler_context_);
  StackContext& from = *running_;
  current_ = nullptr;
  running_ = scheduler_context_;
  ++metrics_.switches;
  switch_context(from, *scheduler_context_);
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
  if (next != nullptr) {
    switch_to(*next);
  } else {
    switch_to_scheduler();
  }
}

FERMATA_HOT void Scheduler::regains_control(CoroutineBase& me) {
  in_scheduler_context_ = false;
  me.waker_.place = nullptr;
  kernel_.trace(backend::Trace::Entered, &me, 0);
  if (me.extras_ != nullptr) [[unlikely]] {
    call_switch_handlers(me, backend::SwitchMoment::Enter);
  }
}

FERMATA_HOT void Scheduler::resumed(CoroutineBase& me) {
  regains_control(me);
  if (me.waker_.error) [[unlikely]] {
    throw_wait_error(me);
  }
}

// A yield at its shortest: the head of the queue runs, `me` is its new tail. Nobody watches.
FERMATA_HOT void Scheduler::change_places(CoroutineBase& me, CoroutineBase& next,
                                          const SourcePlace& place) {
  ++metrics_.ticks;
  ready_.replace_front(me);
  me.waker_.status = backend::WakerStatus::Queued;
  me.waker_.place = &place;
  next.waker_.status = backend::WakerStatus::Result;
  look_ahead();
  switch_to(next);
  resumed(me);
  me.waker_.status = backend::WakerStatus::None;
}

void Scheduler::yield_slow_path(CoroutineBase& me, const SourcePlace& place) {
  enqueue(me, backend::WakeCause::Yield);
  park(me, place);
  resumed(me);
  me.waker_.clear();
}

void Scheduler::offer(const SourcePlace& place) {
  CoroutineBase& me = suspendable("offer");
  if (me.has_pending()) raise_pending(me, place);
  FERMATA_REQUIRE(me.waker_.empty(), "offer: the coroutine has registered events to wait for");
  ready_.push_front(me);
  me.waker_.status = backend::WakerStatus::Queued;
  kernel_.trace(backend::Trace::Enqueued, &me,
                static_cast<std::uint64_t>(backend::WakeCause::Yield));
  park(me, place);
  resumed(me);
  me.waker_.clear();
}

void Scheduler::yield(const SourcePlace& place) {
  CoroutineBase& me = suspendable("suspend");
  if (me.has_pending()) [[unlikely]] {
    raise_pending(me, place);
  }
  FERMATA_REQUIRE(me.waker_.empty(), "suspend: the coroutine has registered events to wait for");
  if (metrics_.ticks + 1 < attention_at_ && !ready_.empty()) [[likely]] {
    CoroutineBase& next = ready_[0];
    const bool plain = next.context_ != nullptr && me.extras_ == nullptr &&
                       next.waker_.status == backend::WakerStatus::Queued;
    if (plain) [[likely]] {
      change_places(me, next, place);
      return;
    }
  }
  yield_slow_path(me, place);
}

void Scheduler::start_events(CoroutineBase& me) {
  FERMATA_ASSERT(current_ == &me);
  FERMATA_ASSERT(me.waker_.status == backend::WakerStatus::Waiting);
  in_scheduler_context_ = true;  // What fires now answers without a trip through the queue.
  try {
    me.waker_.start_events();
  } catch (...) {
    in_scheduler_context_ = false;
    me.waker_.clear();
    throw;
  }
  in_scheduler_context_ = false;
}

FERMATA_HOT void Scheduler::wait_until_answered(CoroutineBase& me, bool start,
                                                const SourcePlace& place) {
  if (me.waker_.status == backend::WakerStatus::None) {
    if (me.has(CoroutineBase::kUnwinding)) [[unlikely]] {
      refuse_wait(me, place);
    }
    me.waker_.status = backend::WakerStatus::Waiting;
    if (start) start_events(me);
  }
  if (me.waker_.status != backend::WakerStatus::Result) {
    if (me.has_pending()) [[unlikely]] {
      raise_pending(me, place);
    }
    park(me, place);
    regains_control(me);
  }
}

void Scheduler::suspend(const SourcePlace& place) {
  if (std::exception_ptr error = suspend_for_error(place)) {
    std::rethrow_exception(std::move(error));
  }
}

std::exception_ptr Scheduler::suspend_for_error(const SourcePlace& place) {
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
  me.waker_.add(event, backend::WakeRule::Resolve);
  wait_until_answered(me, event.is_startable(), place);
  return me;
}

void* Scheduler::wait_for(Event& event, const SourcePlace& place) {
  FERMATA_ASSERT(!event.is_closed());
  CoroutineBase& me = answered_by(event, place);
  if (me.waker_.error) [[unlikely]] {
    throw_wait_error(me);
  }
  void* result = me.waker_.result;
  me.waker_.clear();
  return result;
}

std::exception_ptr Scheduler::wait_for_end(Event& event, const SourcePlace& place) {
  FERMATA_ASSERT(!event.is_closed());
  CoroutineBase& me = answered_by(event, place);
  if (me.waker_.error) [[unlikely]] {
    return me.waker_.take_error();
  }
  me.waker_.clear();
  return nullptr;
}

// The scheduler's own picks: the same code, out of line.
CoroutineBase* Scheduler::tick_for_loop() { return with_context(tick(nullptr)); }
void Scheduler::enter_from_loop(CoroutineBase& next) { switch_to(next); }

// Until somebody needs a context again, and has made a coroutine of its own current.
FERMATA_HOT void Scheduler::rest(StackContext& self, CoroutineBase* next) {
  FERMATA_ASSERT(running_ == &self);
  current_ = next;
  running_ = next != nullptr ? next->context_ : scheduler_context_;
  ++metrics_.switches;
  contexts_.rest(self);
  switch_context(self, *running_);
}

void Scheduler::coroutine_context(StackContext& self) noexcept {
  Scheduler& scheduler = current_runtime_pointer->scheduler();
  for (;;) {
    FERMATA_ASSERT(scheduler.current_->context_ == &self);
    scheduler.run_body(*scheduler.current_);
    begin_afresh(self);
    scheduler.current_ = nullptr;
    CoroutineBase* const next = scheduler.tick(nullptr);
    if (next == nullptr || next->context_ != nullptr) {
      scheduler.rest(self, next);
    } else {
      next->context_ = &self;
      self.owner = next;
      scheduler.current_ = next;
    }
  }
}

// Its frames stay as they are until somebody else has the stack; the main coroutine's is that of
// whoever runs the runtime.
void Scheduler::drop_current(std::exception_ptr error) {
  FERMATA_ASSERT(can_suspend());
  CoroutineBase& me = *current_;
  StackContext& self = *me.context_;
  me.waker_.clear();
  finalize(me, std::move(error));
  if (me.is_main()) {
    *self.thread.exceptions = {};
    std::longjmp(*end_of_main_, 1);
  }
  current_ = nullptr;
  CoroutineBase* const next = with_context(tick(nullptr));
  current_ = next;
  running_ = next != nullptr ? next->context_ : scheduler_context_;
  ++metrics_.switches;
  contexts_.release(self);
  leave_context(self, *running_);
}

void Scheduler::scheduler_context(StackContext& self) noexcept {
  Scheduler& scheduler = current_runtime_pointer->scheduler();
  scheduler.loop();
  FERMATA_ASSERT(scheduler.registry_.empty());
  FERMATA_ASSERT(scheduler.running_ == &self);
  scheduler.current_ = nullptr;
  scheduler.running_ = &scheduler.thread_context_;
  scheduler.scheduler_context_ = nullptr;
  scheduler.contexts_.release(self);
  leave_context(self, scheduler.thread_context_);
}

// In a destructor it stays pending. Who has been told to unwind is told once: a handler may let the
// others go first.
FERMATA_COLD void Scheduler::raise_pending(CoroutineBase& me, const SourcePlace& place) {
  FERMATA_ASSERT(me.has_pending());
  if (me.has(CoroutineBase::kToldToUnwind)) return;
  if (me.has(CoroutineBase::kUnwinding)) return refuse_wait(me, place);
  std::exception_ptr error = in_destructor(me) ? nullptr : me.take_pending_cancellation();
  if (!error && me.has(CoroutineBase::kLimitDue)) {
    error = Limit::take_due(me.limit(), me.shelter());
    if (!Limit::any_is_due(me.limit())) me.unset(CoroutineBase::kLimitDue);
  }
  if (!error) return;
  me.waker_.clear();
  std::rethrow_exception(error);
}

// Who is unwound by force waits in destructors only: one that throws would end the program.
FERMATA_COLD void Scheduler::refuse_wait(CoroutineBase& me, const SourcePlace& place) {
  FERMATA_ASSERT(me.has(CoroutineBase::kUnwinding));
  if (in_destructor(me)) return;
  me.set(CoroutineBase::kToldToUnwind);
  note_unwound(me, place);
  me.waker_.clear();
  throw ForcedUnwind{};
}

FERMATA_COLD void Scheduler::throw_wait_error(CoroutineBase& me) {
  FERMATA_ASSERT(me.waker_.error != nullptr);
  std::rethrow_exception(me.waker_.take_error());
}

}  // namespace fermata::detail
