// SPDX-License-Identifier: Apache-2.0

// Switches: the ways to give up control besides that of switching.hpp, and what is rare on it.

#include <fmt/format.h>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/base/inlining.hpp"
#include "fermata/core/limit.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/scheduler.hpp"
#include "fermata/core/switching.hpp"

namespace fermata::detail {

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

FERMATA_HOT CoroutineBase* Scheduler::pick_within() {
  while (!ready_.empty() && !abandoned_ && !unwinding_) {
    if (has_native_work() && !microtasks_paused_) [[unlikely]] {
      drain_microtasks();
      continue;
    }
    const bool choose = kernel_.chooser != nullptr && ready_.size() > 1;
    CoroutineBase& coroutine =
        choose ? ready_.take(kernel_.chooser->pick(ready_)) : ready_.pop_front();
    if (coroutine.waker_.status == backend::WakerStatus::Ignored) [[unlikely]] {
      finalize_unstarted(coroutine);
      continue;
    }
    FERMATA_ASSERT(coroutine.waker_.status == backend::WakerStatus::Queued);
    coroutine.waker_.status = backend::WakerStatus::Result;
    return &coroutine;
  }
  return nullptr;
}

CoroutineBase* Scheduler::pick() { return pick_within(); }

FERMATA_HOT void Scheduler::end_step() {
  FERMATA_ASSERT(watched_);
  if (step_limited_) time_step();
  if (kernel_.observer == nullptr || abandoned_) return;
  try {
    kernel_.observer->end_step(runtime_);
  } catch (...) {
    handle_loop_exception(std::current_exception());
  }
}

// The slow path of a tick.
CoroutineBase* Scheduler::attend(CoroutineBase* leaving) {
  FERMATA_ASSERT(in_scheduler_context_);
  microtasks_paused_ = false;
  if (has_native_work()) [[unlikely]] {
    drain_microtasks();
  }
  const bool loop_turns = metrics_.ticks >= poll_at_ && !look(leaving);
  if (watched_) [[likely]] {  // Others seldom come here.
    end_step();
  }
  const bool answered =
      leaving != nullptr && leaving->waker_.status == backend::WakerStatus::Result;
  CoroutineBase* const next = answered ? leaving : loop_turns ? nullptr : pick_within();
  const bool soon = watched_ || abandoned_ || unwinding_ || has_native_work();
  attention_at_ = soon ? 0 : poll_at_;
  if (watchdog_ != nullptr) [[unlikely]] {
    watchdog_->begin(next);
  }
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
  switch_to(&next);
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

void Scheduler::suspend(const SourcePlace& place) {
  if (std::exception_ptr error = suspend_within(place)) {
    std::rethrow_exception(std::move(error));
  }
}

void* Scheduler::wait_for(Event& event, const SourcePlace& place) {
  return wait_within(event, place);
}

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
