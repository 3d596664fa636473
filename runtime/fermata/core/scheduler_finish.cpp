// SPDX-License-Identifier: Apache-2.0

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/base/exception_ptr_cast.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/scheduler.hpp"
#include "fermata/core/sweep.hpp"

namespace fermata::detail {

// The order of the steps matters; no step may keep a later one from happening (CORE-CO-19).
void Scheduler::finalize(CoroutineBase& coroutine, std::exception_ptr&& error) {
  FERMATA_ASSERT(!coroutine.is_closed());
  in_scheduler_context_ = true;
  if (step_limited_) [[unlikely]] {
    time_step();
  }
  coroutine.outcome_.result = coroutine.drop_body();
  if (error || coroutine.stored_error_) [[unlikely]] {
    coroutine.outcome_.error = final_error(coroutine, std::move(error));
    if (coroutine.outcome_.error) coroutine.outcome_.result = nullptr;
  }
  coroutine.close();
  kernel_.trace(backend::Trace::Finished, &coroutine, 0);
  if (coroutine.extras_ != nullptr) [[unlikely]] {
    end_switch_handlers(coroutine);
  }
  if (kernel_.observer != nullptr || coroutine.has_listeners()) [[unlikely]] {
    try {
      if (coroutine.notify(coroutine.outcome_)) coroutine.mark_exception_caught();
    } catch (...) {
      report_unhandled(std::current_exception());
    }
  }
  if (coroutine.extras_ != nullptr) [[unlikely]] {
    launch_finally(coroutine);
  }
  coroutine.waker_.clear();
  if (coroutine.outcome_.error) [[unlikely]] {
    leave_scope_failed(coroutine);
  } else {
    leave_scope(coroutine);
  }
  registry_.remove(coroutine);
  if (coroutine.is_zombie()) [[unlikely]] {
    FERMATA_ASSERT(zombies_ > 0);
    --zombies_;
  }
  ++metrics_.finished;
  coroutine.context_ = nullptr;
  if (coroutine.ref_count() == 1) return coroutine.dispose();  // The runtime's own reference.
  coroutine.enlist();  // If it outlives the runtime, the message about that names it.
  coroutine.release();
}

void Scheduler::finalize_unstarted(CoroutineBase& coroutine) {
  FERMATA_ASSERT(!coroutine.is_started());
  CoroutineBase* const caller = std::exchange(current_, &coroutine);
  std::exception_ptr error = std::move(coroutine.waker_.error);
  coroutine.waker_.status = backend::WakerStatus::Result;
  finalize(coroutine, std::move(error));
  current_ = caller;
}

std::exception_ptr Scheduler::final_error(CoroutineBase& coroutine, std::exception_ptr error) {
  std::exception_ptr stored = std::exchange(coroutine.stored_error_, nullptr);
  if (is_forced_unwind(error)) coroutine.set(CoroutineBase::kToldToUnwind);
  if (is_forced_unwind(error) || exception_ptr_cast<ExitUnwind>(error) != nullptr) return nullptr;
  if (!stored) return error;
  if (!error || !carries_error(error)) return stored;
  return is_cancellation(error) ? link_previous(stored, error) : link_previous(error, stored);
}

void Scheduler::end_switch_handlers(CoroutineBase& coroutine) {
  FERMATA_ASSERT(coroutine.is_closed());
  call_switch_handlers(coroutine, backend::SwitchMoment::Finish);
  coroutine.extras_->switch_handlers = {};
}

void Scheduler::launch_finally(CoroutineBase& coroutine) {
  FERMATA_ASSERT(coroutine.extras_ != nullptr);
  FERMATA_ASSERT(coroutine.scope_ != nullptr);
  std::exchange(coroutine.extras_->slots, {}).clear();  // The end of one may ask for another.
  auto handlers = std::exchange(coroutine.extras_->finally_handlers, {});
  if (handlers.empty() || abandoned_ || coroutine.has(CoroutineBase::kUnwinding)) return;
  std::vector<std::function<void()>> actions;
  actions.reserve(handlers.size());
  for (FinallyHandler& handler : handlers) {
    actions.emplace_back([handler = std::move(handler),
                          subject = Ref<CoroutineBase>::share(coroutine)] { handler(*subject); });
  }
  Sweep::launch(*this, *coroutine.scope_, coroutine.label() + ".finally", std::move(actions));
}

// The error passes through the scopes while the coroutine is still a member.
void Scheduler::leave_scope_failed(CoroutineBase& coroutine) {
  FERMATA_ASSERT(coroutine.outcome_.error != nullptr);
  const std::exception_ptr unhandled = unhandled_error(coroutine);
  leave_scope(coroutine);
  if (unhandled) settle_error(coroutine, unhandled);
}

// What neither an awaiter nor a subscriber nor a scope has taken, or null.
std::exception_ptr Scheduler::unhandled_error(CoroutineBase& coroutine) {
  FERMATA_ASSERT(coroutine.is_closed());
  FERMATA_ASSERT(coroutine.scope_ != nullptr);
  const std::exception_ptr& error = coroutine.outcome_.error;
  if (coroutine.exception_caught() || is_cancellation(error)) return nullptr;
  if (is_owed(coroutine)) {
    coroutine.set(CoroutineBase::kOrphaned);
    return nullptr;
  }
  if (ends_by_force()) return error;
  std::exception_ptr unhandled = ScopeBase::route(coroutine, error);
  if (!unhandled) coroutine.mark_exception_caught();
  return unhandled;
}

// A handle may still take the coroutine's own error; what a handler has thrown instead, nobody.
void Scheduler::settle_error(CoroutineBase& coroutine, const std::exception_ptr& unhandled) {
  FERMATA_ASSERT(unhandled != nullptr);
  FERMATA_ASSERT(coroutine.scope_ == nullptr);
  const bool held_by_nobody = coroutine.ref_count() == 1;  // The runtime's own.
  if (held_by_nobody || coroutine.is_main() || unhandled != coroutine.outcome_.error) {
    coroutine.mark_exception_caught();
    report_unhandled(unhandled);
  } else {
    coroutine.set(CoroutineBase::kOrphaned);
  }
}

// Whether somebody will get the coroutine's error, if nothing intervenes.
bool Scheduler::is_owed(const CoroutineBase& failed) const noexcept {
  FERMATA_ASSERT(failed.is_closed());
  if (failed.exception_owed()) return true;
  for (const CoroutineBase* each = registry_.first(); each != nullptr;
       each = CoroutineBase::Registry::after(*each)) {
    if (each->waker_.owes_error_of(failed)) return true;
  }
  return false;
}

}  // namespace fermata::detail
