// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "fermata/runtime/base/error.hpp"
#include "fermata/runtime/context/switch.hpp"
#include "fermata/runtime/core/runtime.hpp"
#include "fermata/runtime/core/scheduler.hpp"

namespace fermata::detail {

namespace {

constexpr unsigned kTicksBetweenPolls = 61;
constexpr Duration kPollInterval = std::chrono::milliseconds(10);
constexpr std::size_t kMicrotaskDrainLimit = 100'000;  // In simulation; then it is a livelock.

}  // namespace

void Scheduler::park(CoroutineBase& me, const SourcePlace& place) {
  if (me.extras_ != nullptr) [[unlikely]] {
    call_switch_handlers(me, SwitchMoment::Leave);
  }
  me.waker_.place = place;
  kernel_.trace(Trace::Left, &me, 0);
  tick();
  if (me.waker_.status == WakerStatus::Result) return;
  CoroutineBase* next = next_to_enter();
  if (next == &me) return;
  if (next != nullptr) {
    switch_to(*next);
  } else {
    switch_to_scheduler();
  }
}

void Scheduler::tick() {
  in_scheduler_context_ = true;
  microtasks_paused_ = false;
  ++runtime_.mutable_metrics().ticks;
  if (has_native_work()) [[unlikely]] {
    drain_microtasks();
  }
  if (--poll_budget_ == 0) [[unlikely]] {
    poll(TurnMode::NoWait);
  }
  if (kernel_.observer != nullptr || step_limited_) [[unlikely]] {
    end_step();
  }
}

void Scheduler::end_step() {
  if (step_limited_) {
    const Instant now = runtime_.now();
    const Duration took = now - step_began_;
    step_began_ = now;
    if (took > runtime_.options().slow_step) {
      ++runtime_.mutable_metrics().slow_steps;
      runtime_.log(fmt::format("slow step: {} ran for {} ms without giving up control",
                               current_ != nullptr ? current_->info() : "the scheduler",
                               std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
    }
  }
  if (kernel_.observer == nullptr || abandoned_) return;
  try {
    kernel_.observer->end_step(runtime_);
  } catch (...) {
    handle_loop_exception(std::current_exception());
  }
}

void Scheduler::drain_microtasks() {
  std::size_t ran = 0;
  while (!microtasks_.empty() && !microtasks_paused_) {
    kernel_.trace(Trace::MicrotaskRun, nullptr, 0);
    ++runtime_.mutable_metrics().microtasks;
    try {
      microtasks_.run_first();
      if (++ran > kMicrotaskDrainLimit && kernel_.chooser != nullptr) {
        microtasks_.clear();
        throw LivelockError(
            fmt::format("more than {} microtasks without a switch", kMicrotaskDrainLimit));
      }
    } catch (...) {
      microtasks_paused_ = true;
      handle_loop_exception(std::current_exception());
    }
  }
  while (!reported_errors_.empty()) {
    const auto errors = std::exchange(reported_errors_, {});
    for (const std::exception_ptr& error : errors) handle_loop_exception(error);
  }
}

void Scheduler::poll(TurnMode mode) {
  ++runtime_.mutable_metrics().polls;
  if (mode == TurnMode::Block) ++runtime_.mutable_metrics().blocking_polls;
  kernel_.trace(Trace::Polled, nullptr, mode == TurnMode::Block ? 1 : 0);
  try {
    runtime_.reactor().turn(mode, runtime_.timers().earliest());
  } catch (...) {
    handle_loop_exception(std::current_exception());
  }
  // Look again after as many ticks as take about the interval, at most kTicksBetweenPolls.
  const Instant now = runtime_.now();
  if (mode == TurnMode::NoWait && now - last_poll_ > kPollInterval) {
    poll_budget_full_ = std::max(1u, poll_budget_full_ / 4);
  } else {
    poll_budget_full_ = std::min(kTicksBetweenPolls, poll_budget_full_ * 2);
  }
  poll_budget_ = poll_budget_full_;
  last_poll_ = now;
  step_began_ = now;
  if (has_native_work()) drain_microtasks();
}

CoroutineBase& Scheduler::take_ready() {
  if (kernel_.chooser != nullptr && ready_.size() > 1) [[unlikely]] {
    return ready_.take(kernel_.chooser->pick(ready_));
  }
  return ready_.pop_front();
}

CoroutineBase* Scheduler::next_ready() {
  while (!ready_.empty() && !abandoned_ && !unwinding_) {
    if (has_native_work() && !microtasks_paused_) [[unlikely]] {
      drain_microtasks();
      continue;
    }
    CoroutineBase& coroutine = take_ready();
    if (coroutine.waker_.status == WakerStatus::Ignored) [[unlikely]] {
      finalize_unstarted(coroutine);
      continue;
    }
    coroutine.waker_.status = WakerStatus::Result;
    return &coroutine;
  }
  return nullptr;
}

CoroutineBase* Scheduler::next_to_enter() {
  for (;;) {
    CoroutineBase* next = next_ready();
    if (next == nullptr || next->context_ != nullptr) return next;
    try {
      next->context_ = &contexts_.acquire(&Scheduler::coroutine_context);
      next->context_->owner = next;
      return next;
    } catch (...) {  // No stack: the coroutine fails, the others go on.
      CoroutineBase* const caller = std::exchange(current_, next);
      finalize(*next, std::current_exception());
      current_ = caller;
    }
  }
}

void Scheduler::switch_to(CoroutineBase& next) {
  Context& from = *running_;
  current_ = &next;
  running_ = next.context_;
  ++runtime_.mutable_metrics().switches;
  switch_context(from, *next.context_);
}

void Scheduler::switch_to_scheduler() {
  Context& from = *running_;
  current_ = nullptr;
  running_ = scheduler_context_;
  ++runtime_.mutable_metrics().switches;
  switch_context(from, *scheduler_context_);
}

void Scheduler::leave_for(Context& self, CoroutineBase* next) {
  current_ = next;
  running_ = next != nullptr ? next->context_ : scheduler_context_;
  ++runtime_.mutable_metrics().switches;
  contexts_.release(self);
  leave_context(self, *running_);
}

void Scheduler::coroutine_context(Context& self) noexcept {
  Scheduler& scheduler = current_runtime_pointer->scheduler();
  for (;;) {
    scheduler.run_body(*scheduler.current_);
    scheduler.current_ = nullptr;
    scheduler.tick();
    CoroutineBase* next = scheduler.next_ready();
    if (next == nullptr || next->context_ != nullptr) scheduler.leave_for(self, next);
    next->context_ = &self;
    self.owner = next;
    scheduler.current_ = next;
  }
}

void Scheduler::scheduler_context(Context& self) noexcept {
  Scheduler& scheduler = current_runtime_pointer->scheduler();
  scheduler.loop();
  scheduler.current_ = nullptr;
  scheduler.running_ = &scheduler.thread_context_;
  scheduler.scheduler_context_ = nullptr;
  scheduler.contexts_.release(self);
  leave_context(self, scheduler.thread_context_);
}

void Scheduler::loop() {
  for (;;) {
    current_ = nullptr;
    tick();
    if (abandoned_) break;
    if (CoroutineBase* next = next_to_enter()) {
      switch_to(*next);
      continue;
    }
    if (has_native_work() || abandoned_) continue;
    if (phase_ == Phase::Final) break;
    if (kernel_.active_events > 0) {
      contexts_.trim();
      poll(TurnMode::Block);
      continue;
    }
    if (registry_.empty()) {
      if (!launch_finalizers()) return;
      continue;
    }
    poll(TurnMode::NoWait);  // The last chance for something that has happened already.
    if (ready_.empty() && !has_native_work() && kernel_.active_events == 0) resolve_deadlock();
  }
  unwind_all();
}

void Scheduler::run_body(CoroutineBase& coroutine) {
  in_scheduler_context_ = false;
  coroutine.set(CoroutineBase::kStarted);
  kernel_.trace(Trace::Started, &coroutine, 0);
  if (coroutine.extras_ != nullptr) [[unlikely]] {
    call_switch_handlers(coroutine, SwitchMoment::Enter);
  }
  std::exception_ptr error = std::move(coroutine.waker_.error);
  coroutine.waker_.clear();
  if (!error) {
    try {
      coroutine.invoke();
      if (coroutine.has(CoroutineBase::kUnwinding)) {
        runtime_.log(coroutine.info() + " has swallowed its forced unwinding");
      }
    } catch (...) {
      error = std::current_exception();
    }
  }
  finalize(coroutine, std::move(error));
}

void Scheduler::call_switch_handlers(CoroutineBase& coroutine, SwitchMoment moment) {
  const NoSuspend guard(runtime_);
  try {
    coroutine.extras_->switch_handlers.call(coroutine, moment);
  } catch (...) {
    report_unhandled(std::current_exception());
  }
}

}  // namespace fermata::detail
