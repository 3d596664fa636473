// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/core/scheduler.hpp"

#include <fmt/format.h>

#include "fermata/runtime/base/error.hpp"
#include "fermata/runtime/core/runtime.hpp"

namespace fermata::detail {

namespace {

std::exception_ptr make_cancellation(const char* what) {
  return std::make_exception_ptr(Cancellation(what));
}

}  // namespace

void Scheduler::spawn(CoroutineBase& coroutine, SpawnOptions options) {
  FERMATA_REQUIRE(active_, "spawn: the runtime is not running");
  enlist(coroutine, std::move(options));
  if (phase_ != Phase::Running) cancel(coroutine, make_cancellation("Graceful shutdown"), false);
}

void Scheduler::enlist(CoroutineBase& coroutine, SpawnOptions options) {
  if (options.scope == nullptr) {
    options.scope = current_ != nullptr ? current_->scope_ : &root_scope_;
  }
  if (kernel_.chooser != nullptr) {
    const std::uint64_t parent = current_ != nullptr ? current_->path_ : 0;
    coroutine.path_ = kernel_.chooser->spawn_path(parent, options.name.view());
  }
  coroutine.id_ = next_id_++;
  coroutine.name_ = std::move(options.name);
  coroutine.spawn_place_ = options.place;
  coroutine.priority_ = options.priority;
  coroutine.scope_ = options.scope;
  kernel_.trace(Trace::Spawned, &coroutine, coroutine.id_);
  enqueue(coroutine, WakeCause::Spawn);
  coroutine.add_ref();
  registry_.push_back(coroutine);
  coroutine.scope_->enter(coroutine);
  ++active_coroutines_;
  ++runtime_.mutable_metrics().spawned;
}

CoroutineBase& Scheduler::require_suspendable(const char* operation) const {
  if (current_ != nullptr && !in_scheduler_context_ && kernel_.no_suspend == 0) [[likely]] {
    return *current_;
  }
  throw UsageError(fmt::format(
      "{}: {}", operation,
      current_ == nullptr ? "only a coroutine can suspend"
                          : "the scheduler's own context and callbacks must not suspend"));
}

void Scheduler::yield(const SourcePlace& place) {
  CoroutineBase& me = require_suspendable("suspend");
  if (me.has_pending()) [[unlikely]] {
    if (me.has(CoroutineBase::kUnwinding)) return;
    raise_pending(me);
  }
  FERMATA_REQUIRE(me.waker_.empty(), "suspend: the coroutine has registered events to wait for");
  enqueue(me, WakeCause::Yield);
  park(me, place);
  resumed(me);
  me.waker_.clear();
}

void Scheduler::suspend(const SourcePlace& place) {
  CoroutineBase& me = require_suspendable("wait");
  Waker& waker = me.waker_;
  if (waker.status == WakerStatus::None) {
    if (waker.empty()) return;
    if (me.has(CoroutineBase::kUnwinding)) {
      waker.clear();
      throw ForcedUnwind{};
    }
    start_waiting(me);
  }
  if (waker.status != WakerStatus::Result) {
    if (me.has_pending()) [[unlikely]] {
      waker.clear();
      raise_pending(me);
    }
    park(me, place);
    resumed(me);
  } else if (waker.error) {
    throw_wait_error(me);
  }
}

void Scheduler::start_waiting(CoroutineBase& me) {
  me.waker_.status = WakerStatus::Waiting;
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

void Scheduler::raise_pending(CoroutineBase& me) {
  if (std::exception_ptr error = std::exchange(me.stored_error_, nullptr)) {
    std::rethrow_exception(error);
  }
  std::rethrow_exception(make_cancellation("Coroutine must end: it has ignored its cancellation"));
}

void Scheduler::resumed(CoroutineBase& me) {
  in_scheduler_context_ = false;
  kernel_.trace(Trace::Entered, &me, 0);
  if (me.extras_ != nullptr) [[unlikely]] {
    call_switch_handlers(me, SwitchMoment::Enter);
  }
  if (me.waker_.error) [[unlikely]] {
    throw_wait_error(me);
  }
}

void Scheduler::throw_wait_error(CoroutineBase& me) {
  std::exception_ptr error = std::move(me.waker_.error);
  me.waker_.clear();
  if (me.has(CoroutineBase::kUnwinding)) throw ForcedUnwind{};
  std::rethrow_exception(std::move(error));
}

void Scheduler::wake(CoroutineBase& coroutine, Event* source, void* result,
                     std::exception_ptr error, WakeCause cause) {
  Waker& waker = coroutine.waker_;
  switch (waker.status) {
    case WakerStatus::Queued:
    case WakerStatus::Ignored:
    case WakerStatus::Result:
      return;
    case WakerStatus::None:
      // A registered event may fire between the registration and the suspend.
      FERMATA_REQUIRE(!coroutine.closed() && !waker.empty(),
                      "the coroutine has not been suspended");
      break;
    case WakerStatus::Waiting:
      break;
  }
  waker.result = result;
  waker.triggered = source;
  waker.error = std::move(error);
  waker.unsubscribe();
  if (&coroutine == current_) {
    waker.status = WakerStatus::Result;
  } else {
    enqueue(coroutine, cause);
  }
}

void Scheduler::enqueue(CoroutineBase& coroutine, WakeCause cause) {
  if (coroutine.priority_ == Priority::High && cause != WakeCause::Yield) [[unlikely]] {
    ready_.push_front(coroutine);
  } else {
    ready_.push_back(coroutine);
  }
  coroutine.waker_.status = WakerStatus::Queued;
  kernel_.trace(Trace::Enqueued, &coroutine, static_cast<std::uint64_t>(cause));
}

void Scheduler::cancel(CoroutineBase& coroutine, std::exception_ptr reason, bool safely) {
  if (coroutine.closed()) return;
  FERMATA_REQUIRE(!reason || is_cancellation(reason),
                  "cancel: the reason must be a Cancellation");
  if (!reason) reason = make_cancellation("Coroutine cancelled");
  if (coroutine.is_protected()) {
    std::exception_ptr& deferred = coroutine.extras().deferred_cancellation;
    if (!deferred) deferred = std::move(reason);
    return;
  }
  const bool itself =
      &coroutine == current_ && coroutine.waker_.status != WakerStatus::Waiting;
  if (!itself && safely && coroutine.is_started()) {
    if (coroutine.is_zombie()) return;
    coroutine.set(CoroutineBase::kZombie);
    --active_coroutines_;
    coroutine.scope_->member_became_zombie();
    return;
  }
  deliver_cancellation(coroutine, reason, WakeCause::Cancel);
}

void Scheduler::deliver_cancellation(CoroutineBase& coroutine, const std::exception_ptr& reason,
                                     WakeCause cause) {
  Waker& waker = coroutine.waker_;
  coroutine.set(CoroutineBase::kCancelled);
  kernel_.trace(Trace::Cancelled, &coroutine, static_cast<std::uint64_t>(cause));
  if (&coroutine == current_ && waker.status != WakerStatus::Waiting) {
    if (!coroutine.stored_error_) coroutine.stored_error_ = reason;
    return;
  }
  if (!is_cancellation(waker.error)) waker.error = link_previous(reason, waker.error);
  waker.result = nullptr;
  if (!coroutine.is_started()) {
    waker.status = WakerStatus::Ignored;
  } else if (waker.status == WakerStatus::Waiting) {
    waker.unsubscribe();
    if (&coroutine == current_) {
      waker.status = WakerStatus::Result;
    } else {
      enqueue(coroutine, cause);
    }
  }
}

void Scheduler::enter_protected() {
  CoroutineBase& me = require_suspendable("protect");
  ++me.protect_depth_;
}

std::exception_ptr Scheduler::leave_protected() noexcept {
  CoroutineBase& me = *current_;
  if (--me.protect_depth_ > 0) return nullptr;
  me.unset(CoroutineBase::kProtectionCleared);
  if (me.extras_ == nullptr || !me.extras_->deferred_cancellation) return nullptr;
  me.set(CoroutineBase::kCancelled);
  return std::exchange(me.extras_->deferred_cancellation, nullptr);
}

void Scheduler::clear_protection(CoroutineBase& coroutine) noexcept {
  if (coroutine.protect_depth_ == 0) return;
  coroutine.set(CoroutineBase::kProtectionCleared);
  coroutine.extras_ ? coroutine.extras_->deferred_cancellation = nullptr : nullptr;
}

}  // namespace fermata::detail
