// SPDX-License-Identifier: Apache-2.0

// From an event that fires to those who wait for it.
//
// Most events have one subscriber, a coroutine that waits. What a pass over it comes to is done at
// once: no user code runs in between.

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"

namespace fermata {

namespace {
constexpr std::uint32_t kNotifyChainLimit = 1000;
}

/// Outcomes notified from inside a pass; they wait, in order, for its end.
struct Event::QueuedNotifies {
  std::optional<Outcome> first;
  std::vector<Outcome> later;

  void push(const Outcome& outcome) {
    FERMATA_ASSERT(first || later.empty());
    if (!first) {
      first = outcome;
    } else {
      later.push_back(outcome);
    }
  }
  std::optional<Outcome> pop() {
    std::optional<Outcome> next = std::exchange(first, std::nullopt);
    if (!later.empty()) {
      first = std::move(later.front());
      later.erase(later.begin());
    }
    FERMATA_ASSERT(first || later.empty());
    return next;
  }
};

bool detail::Scheduler::answer_only(backend::Registration& registration,
                                    backend::CallbackVector& subscribers, const Outcome& outcome) {
  CoroutineBase& coroutine = registration.coroutine();
  backend::Waker& waker = coroutine.waker_;
  const bool is_result = registration.rule() == backend::WakeRule::Resolve && !outcome.error;
  const bool waits = waker.status == backend::WakerStatus::Waiting && &coroutine != current_;
  if (!is_result || !waits) [[unlikely]] {
    return false;
  }
  Event& event = registration.source();
  kernel_.trace(backend::Trace::CallbackCalled, &event, 0);
  waker.result = outcome.result;
  waker.triggered = &event;
  waker.status = backend::WakerStatus::Queued;
  if (&registration == waker.first()) [[likely]] {
    waker.leave_first(subscribers);
    kernel_.trace(backend::Trace::CallbackRemoved, &event, 0);
  } else {
    event.add_ref();
  }
  waker.unsubscribe();
  enqueue(coroutine, backend::WakeCause::Event);
  event.release();  // Not before: it may be the last reference.
  return true;
}

bool Event::transform(const Outcome& outcome) {
  FERMATA_ASSERT(notify_handler_ != nullptr);
  const auto guard = Ref<Event>::share(*this);
  notify_handler_(*this, outcome);
  return exception_handled();
}

[[gnu::flatten]] bool Event::notify_and_close(const Outcome& outcome) {
  const auto guard = Ref<Event>::share(*this);
  close();
  return notify(outcome);
}

[[gnu::always_inline]] inline std::exception_ptr Event::run_pass(const Outcome& outcome) {
  return callbacks_.run_pass(*this, outcome, [this] {
    runtime_->kernel().trace(backend::Trace::CallbackCalled, this, 0);
  });
}

[[gnu::flatten]] bool Event::notify_from_handler(const Outcome& outcome) {
  if (queued_ != nullptr) [[unlikely]] {
    if (!*queued_) queued_->emplace();
    (*queued_)->push(outcome);
    return false;
  }
  flags_ = static_cast<std::uint16_t>(flags_ & ~kExceptionHandled);
  runtime_->kernel().trace(backend::Trace::EventFired, this, callbacks_.size());
  if (callbacks_.size() == 0) return false;
  backend::Callback* const only = callbacks_.only();
  if (only != nullptr && only->is_registration()) [[likely]] {
    auto& waiter = static_cast<backend::Registration&>(*only);
    if (runtime_->scheduler().answer_only(waiter, callbacks_, outcome)) [[likely]] {
      return false;
    }
  }
  return notify_each(outcome);
}

[[gnu::noinline]] bool Event::notify_each(const Outcome& outcome) {
  const auto guard = Ref<Event>::share(*this);
  const detail::NoSuspend no_suspend(*runtime_);
  std::optional<QueuedNotifies> queued;
  queued_ = &queued;
  std::exception_ptr error = run_pass(outcome);
  if (queued) [[unlikely]] {
    error = run_queued(*queued, std::move(error));
  }
  FERMATA_ASSERT(queued_ == &queued);
  queued_ = nullptr;
  if (error) [[unlikely]] {
    std::rethrow_exception(std::move(error));
  }
  return exception_handled();
}

// Handled is what any of the passes says.
std::exception_ptr Event::run_queued(QueuedNotifies& queued, std::exception_ptr error) {
  FERMATA_ASSERT(queued.first.has_value());
  FERMATA_ASSERT(!callbacks_.in_pass());
  bool handled = exception_handled();
  std::uint32_t chained = 0;
  while (std::optional<Outcome> next = queued.pop()) {
    if (++chained > kNotifyChainLimit) {
      error = link_previous(error, std::make_exception_ptr(LivelockError(fmt::format(
                                       "{}: more than {} notifications, each made from inside the "
                                       "one before",
                                       info(), kNotifyChainLimit))));
      break;
    }
    flags_ = static_cast<std::uint16_t>(flags_ & ~kExceptionHandled);
    runtime_->kernel().trace(backend::Trace::EventFired, this, callbacks_.size());
    error = link_previous(error, run_pass(*next));
    handled = handled || exception_handled();
  }
  if (handled) mark_exception_handled();
  return error;
}

}  // namespace fermata
