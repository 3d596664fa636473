// SPDX-License-Identifier: Apache-2.0

// Waiting for a scope. The condition is looked at again after every wake: between the wake and the
// waiter's turn somebody may have spawned. What members throw is kept from the first look on, so
// that nothing is lost while the waiter is on its way back.

#include <fmt/format.h>

#include <optional>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/scope.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"

namespace fermata {

namespace {

void wake_waiter(backend::Registration& registration, Event& event, const Outcome&) {
  event.runtime().scheduler().wake(registration.coroutine(), &event, nullptr, nullptr,
                                   backend::WakeCause::Event);
}

}  // namespace

/// One coroutine that waits for one scope.
class ScopeBase::Watch {
 public:
  Watch(ScopeBase& scope, CoroutineBase& waiter, const WaitOptions& options)
      : scope_(Ref<ScopeBase>::share(scope)), waiter_(waiter), options_(options) {
    if (options_.token == &scope) options_.token = nullptr;
    if (options_.timeout) {
      if (*options_.timeout < Duration::zero()) {
        throw UsageError(fmt::format("a timeout of {} ns for {}: expected zero or more",
                                     options_.timeout->count(), scope.info()));
      }
      deadline_ = scope.runtime().now() + *options_.timeout;
    }
    waiter_.waker().clear();
    if (!scope.is_closed()) {
      collector_ = subscribe(
          scope, [this](Event& event, const Outcome& outcome) { collect(event, outcome.error); });
    }
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// An error that was taken from a member and got to nobody is unhandled after all.
  ~Watch() {
    collector_.cancel();
    waiter_.waker().clear();
    for (const std::exception_ptr& error : errors_) scope_->runtime().report_unhandled(error);
  }

  /// The oldest error of a member that nobody has been given, or null; it is the caller's now.
  [[nodiscard]] std::exception_ptr take_error() noexcept {
    if (errors_.empty()) return nullptr;
    std::exception_ptr error = std::move(errors_.front());
    errors_.erase(errors_.begin());
    return error;
  }
  /// The reason, when the scope was cancelled since.
  [[nodiscard]] const std::exception_ptr& is_cancelled() const noexcept { return cancelled_; }

  /// Suspends until the scope has news. Throws what the wait ended with otherwise.
  void wait(const SourcePlace& place) {
    backend::Waker& waker = waiter_.waker();
    FERMATA_ASSERT(waker.empty());
    std::optional<Timer> timer;
    Runtime& runtime = scope_->runtime();
    Event* token = options_.token;
    if (token != nullptr && token->void_as_token()) token = nullptr;
    if (token != nullptr && token->is_closed()) detail::throw_cancelled_by(*token);
    if (options_.timeout) {
      const Instant now = runtime.now();
      if (deadline_ <= now) std::rethrow_exception(timeout_error());
      timer.emplace(runtime, deadline_ - now);
    }
    waker.resume_when(*scope_, backend::WakeRule::Custom, false, &wake_waiter);
    if (token != nullptr) {
      token->mark_used_as_token();
      waker.resume_when(*token, backend::WakeRule::Token);
    }
    if (timer) waker.resume_when(*timer, backend::WakeRule::Custom, false, &on_timeout, this);
    runtime.scheduler().suspend(place);
    waker.clear();
  }

 private:
  static void on_timeout(backend::Registration& registration, Event& event, const Outcome&) {
    const auto& self = *static_cast<const Watch*>(registration.context);
    event.runtime().scheduler().wake(registration.coroutine(), &event, nullptr,
                                     self.timeout_error(), backend::WakeCause::Event);
  }

  /// Says how long the whole wait was to be, not its last part.
  [[nodiscard]] std::exception_ptr timeout_error() const {
    FERMATA_ASSERT(options_.timeout.has_value());
    return Timer(scope_->runtime(), *options_.timeout).timeout_error();
  }

  void collect(Event& event, const std::exception_ptr& error) {
    if (!error) return;
    if (is_cancellation(error)) {
      cancelled_ = error;
    } else {
      errors_.push_back(error);
      event.mark_exception_handled();
    }
  }

  Ref<ScopeBase> scope_;
  CoroutineBase& waiter_;
  WaitOptions options_;
  Instant deadline_;
  Subscription collector_;
  std::vector<std::exception_ptr> errors_;
  std::exception_ptr cancelled_;
};

void ScopeBase::refuse_if_inside(const char* operation, const CoroutineBase& caller) const {
  if (!contains(caller.scope())) return;
  throw UsageError(
      fmt::format("{}: {} is inside of {}, which would wait for it: expected a caller "
                  "outside of the scope",
                  operation, caller.info(), info()));
}

void ScopeBase::await_completion(const WaitOptions& options, SourcePlace place) {
  if (is_closed()) return;
  CoroutineBase& me = runtime().scheduler().require_suspendable("await_completion");
  refuse_if_inside("await_completion", me);
  Watch watch(*this, me, options);
  for (;;) {
    std::exception_ptr failure;
    while (std::exception_ptr next = watch.take_error()) failure = link_previous(failure, next);
    if (failure) std::rethrow_exception(failure);
    if (watch.is_cancelled()) std::rethrow_exception(watch.is_cancelled());
    if (is_closed()) return;
    if (wave_ != Wave::None) {
      std::rethrow_exception(
          Cancellation("the scope has been cancelled: " + info()).with_previous(reason_));
    }
    if (is_idle()) return;
    watch.wait(place);
  }
}

void ScopeBase::await_after_cancellation(const CleanupErrorHandler& handler,
                                         const WaitOptions& options, SourcePlace place) {
  if (!is_cancelled()) {
    throw UsageError(
        fmt::format("await_after_cancellation: {} has not been cancelled: expected a cancelled "
                    "scope",
                    info()));
  }
  if (is_closed()) return;
  CoroutineBase& me = runtime().scheduler().require_suspendable("await_after_cancellation");
  refuse_if_inside("await_after_cancellation", me);
  const auto self = Ref<ScopeBase>::share(*this);
  Watch watch(*this, me, options);
  for (;;) {
    while (const std::exception_ptr error = watch.take_error()) {
      if (!handler) std::rethrow_exception(error);
      handler(error, *this);
    }
    if (is_closed() || is_empty()) return;
    watch.wait(place);
  }
}

bool ScopeBase::can_be_joined_by_caller() const noexcept {
  const detail::Scheduler& scheduler = runtime().scheduler();
  return scheduler.can_suspend() && !contains(scheduler.current_scope());
}

// What fires wakes and is not taken: a member that fails has failed for the scopes around.
void ScopeBase::join(const SourcePlace& place) noexcept {
  FERMATA_ASSERT(is_cancelled() || is_empty());
  const auto self = Ref<ScopeBase>::share(*this);
  const auto wait_for_news_of = [&](ScopeBase& scope) {
    const auto keep = Ref<ScopeBase>::share(scope);
    backend::Waker& waker = current_coroutine().waker();
    waker.clear();
    waker.resume_when(scope, backend::WakeRule::Custom, false, &wake_waiter);
    runtime().scheduler().suspend(place);
    waker.clear();
  };
  FERMATA_ASSERT(!is_root());
  const auto is_over = [this] { return is_empty() && (!is_closed() || children_.empty()); };
  if (is_over()) return;
  if (!can_be_joined_by_caller()) {
    return runtime().log(info() + " is destroyed where nobody can wait for its members");
  }
  CoroutineBase& me = current_coroutine();
  const bool told_to_unwind = me.has(CoroutineBase::kToldToUnwind);
  try {
    protect_in_destructor([&] {
      while (!is_over()) wait_for_news_of(is_closed() ? *children_.first() : *this);
    });
  } catch (...) {  // The run ends by force, which the coroutine is told where it waits next.
    me.waker().clear();
    if (!told_to_unwind) me.unset(CoroutineBase::kToldToUnwind);
  }
}

}  // namespace fermata
