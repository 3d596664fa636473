// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/scheduler.hpp"

#include <fmt/format.h>

#include "fermata/base/exception_ptr_cast.hpp"
#include "fermata/core/limit.hpp"
#include "fermata/core/runtime.hpp"

namespace fermata::detail {

namespace {

std::exception_ptr make_cancellation(const char* what) {
  return std::make_exception_ptr(Cancellation(what));
}

/// Whether `scope` can have a new member that `runtime` runs.
bool takes(const ScopeBase& scope, const Runtime& runtime) noexcept {
  return scope.is_open() && &scope.runtime() == &runtime;
}

}  // namespace

std::exception_ptr as_own_cancellation(const std::exception_ptr& reason) {
  FERMATA_ASSERT(reason != nullptr);
  const auto* const cancellation = exception_ptr_cast<Cancellation>(reason);
  if (cancellation == nullptr) return nullptr;
  const bool foreign = exception_ptr_cast<AwaitedCancelled>(reason) != nullptr ||
                       exception_ptr_cast<OperationCancelled>(reason) != nullptr ||
                       exception_ptr_cast<LimitReached>(reason) != nullptr;
  return foreign ? Cancellation(cancellation->what()).with_previous(reason) : reason;
}

[[gnu::flatten]] void Scheduler::spawn(CoroutineBase& coroutine, Priority priority,
                                       ScopeBase* scope) {
  FERMATA_REQUIRE(active_, "spawn: the runtime is not running");
  if (scope == nullptr) [[likely]] {
    scope = &current_scope();
  }
  if (!takes(*scope, runtime_)) [[unlikely]] {
    refuse_spawn(*scope);
  }
  if (scope->strategy_ != nullptr) [[unlikely]] {
    return spawn_by_strategy(coroutine, priority, *scope);
  }
  enlist(coroutine, priority, *scope);
  if (phase_ != Phase::Running) [[unlikely]] {
    cancel_at_birth(coroutine);
  }
}

// A strategy may be replaced, and its scope may be gone, by what it does.
[[gnu::noinline, gnu::cold]] void Scheduler::spawn_by_strategy(CoroutineBase& coroutine,
                                                               Priority priority,
                                                               ScopeBase& asked) {
  FERMATA_ASSERT(asked.strategy_ != nullptr);
  FERMATA_ASSERT(coroutine.scope_ == nullptr);
  const std::shared_ptr<backend::SpawnStrategy> strategy = asked.strategy_;
  coroutine.priority_ = priority;
  const NoSuspend guard(runtime_);
  const auto scope = Ref<ScopeBase>::share(strategy->provide_scope(coroutine, asked));
  if (!takes(*scope, runtime_)) refuse_spawn(*scope);
  strategy->before_spawn(coroutine, *scope);
  if (!takes(*scope, runtime_)) refuse_spawn(*scope);
  enlist(coroutine, coroutine.priority_, *scope);
  if (coroutine.has(CoroutineBase::kCancelled)) {
    coroutine.waker_.status = backend::WakerStatus::Ignored;
  }
  if (phase_ != Phase::Running) cancel_at_birth(coroutine);
  try {
    strategy->after_spawn(coroutine, *scope);
  } catch (...) {
    report_unhandled(std::current_exception());
  }
}

void Scheduler::set_priority(CoroutineBase& coroutine, Priority priority) noexcept {
  if (coroutine.is_closed() || std::exchange(coroutine.priority_, priority) == priority) return;
  if (priority != Priority::High || !coroutine.is_queued()) return;
  const std::size_t in_line = ready_.size();
  drop_from_ready(coroutine);
  ready_.push_front(coroutine);
  FERMATA_ASSERT(ready_.size() == in_line);
}

[[gnu::noinline, gnu::cold]] void Scheduler::refuse_spawn(const ScopeBase& scope) const {
  if (&scope.runtime() == &runtime_) scope.refuse("spawn");
  throw UsageError(fmt::format("spawn: {} belongs to runtime '{}': expected a scope of '{}'",
                               scope.info(), scope.runtime().name(), runtime_.name()));
}

[[gnu::noinline]] void Scheduler::cancel_at_birth(CoroutineBase& coroutine) {
  FERMATA_ASSERT(phase_ != Phase::Running);
  cancel(coroutine, make_cancellation("Graceful shutdown"), false);
}

void Scheduler::enlist(CoroutineBase& coroutine, Priority priority, ScopeBase& scope) {
  if (kernel_.chooser != nullptr) [[unlikely]] {
    const std::uint64_t parent = current_ != nullptr ? current_->path_ : 0;
    coroutine.path_ = kernel_.chooser->spawn_path(parent, coroutine.name());
  }
  coroutine.priority_ = priority;
  enroll(coroutine, scope);
  enqueue(coroutine, backend::WakeCause::Spawn);
}

void Scheduler::enroll(CoroutineBase& coroutine, ScopeBase& scope) {
  FERMATA_ASSERT(coroutine.id_ == 0);
  coroutine.id_ = next_id_++;
  coroutine.scope_ = &scope;
  kernel_.trace(backend::Trace::Spawned, &coroutine, coroutine.id_);
  coroutine.add_ref();
  registry_.push_back(coroutine);
  scope.enter(coroutine);
  ++metrics_.spawned;
}

void Scheduler::cancel(CoroutineBase& coroutine, std::exception_ptr reason, bool safely) {
  if (coroutine.is_closed()) return;
  reason = reason ? as_own_cancellation(reason) : make_cancellation("Coroutine cancelled");
  FERMATA_REQUIRE(reason != nullptr, "cancel: the reason must be a Cancellation");
  cancel_with(coroutine, reason, safely);
}

void Scheduler::cancel_with(CoroutineBase& coroutine, const std::exception_ptr& reason,
                            bool safely) {
  FERMATA_ASSERT(!coroutine.is_closed());
  if (coroutine.is_protected()) {
    std::exception_ptr& deferred = coroutine.extras().deferred_cancellation;
    if (!deferred && !coroutine.stored_error_) deferred = reason;
    return;
  }
  if (!runs(coroutine) && safely && coroutine.is_started()) {
    return become_zombie(coroutine);
  }
  deliver_cancellation(coroutine, reason, backend::WakeCause::Cancel);
}

std::size_t Scheduler::active_coroutine_count() const noexcept {
  FERMATA_ASSERT(zombies_ <= registry_.size());
  return registry_.size() - zombies_;
}

void Scheduler::become_zombie(CoroutineBase& coroutine) noexcept {
  if (coroutine.is_zombie()) return;
  FERMATA_ASSERT(coroutine.is_started());
  FERMATA_ASSERT(coroutine.scope_ != nullptr);
  FERMATA_ASSERT(active_coroutine_count() > 0);
  coroutine.set(CoroutineBase::kZombie);
  ++zombies_;
  coroutine.scope_->member_became_zombie();
}

void Scheduler::cancel_member(CoroutineBase& coroutine, const std::exception_ptr& reason,
                              bool safely) {
  if (coroutine.is_closed() || coroutine.waits_to_clean_up()) return;
  if (safely && coroutine.is_started()) {
    become_zombie(coroutine);
  } else {
    cancel_with(coroutine, reason, false);
  }
}

bool Scheduler::runs(const CoroutineBase& coroutine) const noexcept {
  const backend::WakerStatus status = coroutine.waker_.status;
  return &coroutine == current_ && status != backend::WakerStatus::Waiting &&
         status != backend::WakerStatus::Queued;
}

// A destructor waits: an exception that it lets out would end the program.
bool Scheduler::waits_in_destructor(const CoroutineBase& coroutine) const noexcept {
  if (coroutine.context_ == nullptr) return false;
  if (coroutine.has(CoroutineBase::kUnwinding)) return true;
  if (&coroutine == current_) return in_destructor(coroutine);
  return coroutine.destructor_depth_ > 0 || coroutine.context_->ambient.uncaught_exceptions > 0;
}

void Scheduler::deliver_cancellation(CoroutineBase& coroutine, const std::exception_ptr& reason,
                                     backend::WakeCause cause) {
  backend::Waker& waker = coroutine.waker_;
  FERMATA_ASSERT(reason != nullptr);
  FERMATA_ASSERT(!coroutine.is_closed());
  coroutine.set(CoroutineBase::kCancelled);
  kernel_.trace(backend::Trace::Cancelled, &coroutine, static_cast<std::uint64_t>(cause));
  if (runs(coroutine) || waits_in_destructor(coroutine)) {
    if (!coroutine.stored_error_) coroutine.stored_error_ = reason;
    return;
  }
  waker.cancel(reason);
  coroutine.call_off_limits();
  if (!coroutine.is_started()) {
    if (coroutine.scope_ == nullptr) return;  // Not in line yet: see spawn_by_strategy.
    FERMATA_ASSERT(coroutine.is_queued());
    waker.status = backend::WakerStatus::Ignored;
  } else if (waker.status == backend::WakerStatus::Waiting) {
    const bool is_current = &coroutine == current_;
    waker.end_wait(is_current ? backend::WakerStatus::Result : backend::WakerStatus::Queued);
    if (!is_current) enqueue(coroutine, cause);
  }
}

bool Scheduler::interrupt(CoroutineBase& coroutine, Event& source, const Limit& limit) {
  FERMATA_ASSERT(limit.error() != nullptr);
  FERMATA_ASSERT(!coroutine.is_closed());
  const bool waits = coroutine.waker_.status == backend::WakerStatus::Waiting &&
                     !coroutine.has(CoroutineBase::kUnwinding);
  if (waits && limit.reaches_into(coroutine.shelter())) {
    Limit::call_off(coroutine.limit(), &limit);
    if (!Limit::any_is_due(&limit)) coroutine.unset(CoroutineBase::kLimitDue);
    wake(coroutine, &source, nullptr, limit.error(), backend::WakeCause::Event);
    return true;
  }
  coroutine.set(CoroutineBase::kLimitDue);
  return false;
}

void Scheduler::enter_protected() {
  CoroutineBase& me = require_suspendable("protect");
  ++me.protect_depth_;
  FERMATA_ASSERT(me.protect_depth_ > 0);
}

std::exception_ptr Scheduler::leave_protected() noexcept {
  FERMATA_ASSERT(current_ != nullptr);
  CoroutineBase& me = *current_;
  if (--me.protect_depth_ > 0) return nullptr;
  me.unset(CoroutineBase::kProtectionCleared);
  if (me.extras_ == nullptr || !me.extras_->deferred_cancellation) return nullptr;
  if (me.has(CoroutineBase::kUnwinding)) return nullptr;
  me.set(CoroutineBase::kCancelled);
  std::exception_ptr cancellation = std::exchange(me.extras_->deferred_cancellation, nullptr);
  if (!in_destructor(me)) {
    me.call_off_limits();
    return cancellation;
  }
  if (!me.stored_error_) me.stored_error_ = std::move(cancellation);
  return nullptr;
}

void Scheduler::enter_destructor() {
  CoroutineBase& me = require_suspendable("protect_in_destructor");
  ++me.destructor_depth_;
  FERMATA_ASSERT(me.destructor_depth_ > 0);
}

void Scheduler::clear_protection(CoroutineBase& coroutine) noexcept {
  if (coroutine.protect_depth_ == 0) return;
  coroutine.set(CoroutineBase::kProtectionCleared);
  coroutine.extras_ ? coroutine.extras_->deferred_cancellation = nullptr : nullptr;
}

}  // namespace fermata::detail
