// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/base/inlining.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/scheduler.hpp"
#include "fermata/core/switching.hpp"

namespace fermata::detail {

namespace {

constexpr unsigned kTicksBetweenPolls = 61;
constexpr Duration kPollInterval = std::chrono::milliseconds(10);
constexpr std::size_t kMicrotaskDrainLimit = 100'000;  // In simulation; then it is a livelock.

FERMATA_COLD void log_swallowed_unwinding(const CoroutineBase& coroutine) {
  coroutine.runtime().log(coroutine.info() + " has swallowed its forced unwinding");
}

}  // namespace

void Scheduler::time_step() {
  FERMATA_ASSERT(step_limited_);
  const Instant now = runtime_.now();
  const Duration took = now - step_began_;
  step_began_ = now;
  if (took <= runtime_.options().slow_step) return;
  ++metrics_.slow_steps;
  runtime_.log(fmt::format("slow step: {} ran for {} ms without giving up control",
                           current_ != nullptr ? current_->info() : "the scheduler",
                           std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
}

void Scheduler::drain_microtasks() {
  std::size_t ran = 0;
  while (!microtasks_.empty() && !microtasks_paused_) {
    kernel_.trace(backend::Trace::MicrotaskRun, nullptr, 0);
    ++metrics_.microtasks;
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
  FERMATA_ASSERT(reported_errors_.empty());
}

// A turn costs as much as dozens of ticks, and a look at the clock as one. It also uses far more
// stack than a wait does. Returns false when it is due and the loop has to do it.
bool Scheduler::look(const CoroutineBase* leaving) {
  FERMATA_ASSERT(metrics_.ticks >= poll_at_);
  const bool is_spaced = turn_spacing_ > Duration::zero();
  const bool is_due = poll_at_ == 0 || !is_spaced || runtime_.now() - last_poll_ >= turn_spacing_;
  if (!is_due) {
    poll_budget_ = std::min(kTicksBetweenPolls, poll_budget_ * 2);
    poll_at_ = metrics_.ticks + poll_budget_;
    FERMATA_ASSERT(poll_at_ > metrics_.ticks);
    return true;
  }
  const bool stays = leaving != nullptr && leaving->waker_.status == backend::WakerStatus::Result;
  if (is_spaced && !stays && running_ != scheduler_context_) {
    request_poll();
    return false;
  }
  poll(backend::TurnMode::NoWait);
  return true;
}

FERMATA_HOT void Scheduler::poll(backend::TurnMode mode) {
  FERMATA_ASSERT(mode == backend::TurnMode::NoWait || ready_.empty());
  if (step_limited_) time_step();  // What the reactor takes is not the coroutine's.
  if (watchdog_ != nullptr) watchdog_->begin(nullptr);
  ++metrics_.polls;
  if (mode == backend::TurnMode::Block) ++metrics_.blocking_polls;
  kernel_.trace(backend::Trace::Polled, nullptr, mode == backend::TurnMode::Block ? 1 : 0);
  try {
    runtime_.reactor().turn(mode, runtime_.timers().earliest());
  } catch (...) {
    handle_loop_exception(std::current_exception());
  }
  // Look again after as many ticks as take about the interval, at most kTicksBetweenPolls.
  if (mode == backend::TurnMode::NoWait && turned_at_ - last_poll_ > kPollInterval) {
    poll_budget_ = std::max(1u, poll_budget_ / 4);
  } else {
    poll_budget_ = std::min(kTicksBetweenPolls, poll_budget_ * 2);
  }
  FERMATA_ASSERT(poll_budget_ - 1 < kTicksBetweenPolls);
  poll_at_ = metrics_.ticks + poll_budget_;
  last_poll_ = turned_at_;
  if (step_limited_) step_began_ = runtime_.now();
  if (has_native_work()) drain_microtasks();
}

void Scheduler::loop() {
  for (;;) {
    current_ = nullptr;
    // Control comes back when the tick of a coroutine has found nobody.
    if (CoroutineBase* const next = with_context(tick(nullptr))) switch_to(next);
    FERMATA_ASSERT(in_scheduler_context_);
    FERMATA_ASSERT(running_ == scheduler_context_);
    if (abandoned_) break;
    if (!ready_.empty() || has_native_work()) continue;
    if (phase_ == Phase::Final) {
      if (registry_.empty() && close_scopes()) continue;
      break;
    }
    if (kernel_.active_events > 0) {
      // In simulation no time passes meanwhile, and the next run needs the same stacks.
      if (kernel_.chooser == nullptr) contexts_.trim();
      poll(backend::TurnMode::Block);
      continue;
    }
    if (registry_.empty()) {
      if (!launch_finalizers() && !close_scopes() && !runtime_.reactor().linger()) return;
      continue;
    }
    poll(backend::TurnMode::NoWait);  // The last chance for something that has happened already.
    if (!ready_.empty() || has_native_work() || kernel_.active_events > 0) continue;
    if (!resolve_softly()) resolve_deadlock();
  }
  unwind_all();
}

// The end of the scopes that are left; false when it leaves nobody to run.
bool Scheduler::close_scopes() noexcept {
  scopes_.close_all();
  return !registry_.empty();
}

void Scheduler::run_body(CoroutineBase& coroutine) {
  FERMATA_ASSERT(!coroutine.is_started());
  in_scheduler_context_ = false;
  coroutine.set(CoroutineBase::kStarted);
  kernel_.trace(backend::Trace::Started, &coroutine, 0);
  if (coroutine.extras_ != nullptr) [[unlikely]] {
    call_switch_handlers(coroutine, backend::SwitchMoment::Enter);
  }
  std::exception_ptr error = std::move(coroutine.waker_.error);
  FERMATA_ASSERT(coroutine.waker_.empty());
  coroutine.waker_.status = backend::WakerStatus::None;
  if (!error) [[likely]] {
    try {
      coroutine.invoke();
      if (coroutine.has(CoroutineBase::kToldToUnwind) &&
          !coroutine.has(CoroutineBase::kKeepsUnwind)) [[unlikely]] {
        log_swallowed_unwinding(coroutine);
      }
    } catch (...) {
      error = std::current_exception();
    }
  }
  FERMATA_ASSERT(current_ == &coroutine);  // Control has come back to whom it left.
  finalize(coroutine, std::move(error));
}

void Scheduler::call_switch_handlers(CoroutineBase& coroutine, backend::SwitchMoment moment) {
  FERMATA_ASSERT(coroutine.extras_ != nullptr);
  const NoSuspend guard(runtime_);
  try {
    coroutine.extras_->switch_handlers.call(coroutine, moment);
  } catch (...) {
    report_unhandled(std::current_exception());
  }
}

}  // namespace fermata::detail
