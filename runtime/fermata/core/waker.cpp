// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/waker.hpp"

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/base/inlining.hpp"
#include "fermata/core/coroutine.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/timer.hpp"

namespace fermata {

namespace {

constexpr const char* kTerminated =
    "wait: the event has ended without an outcome: expected one that can still fire";

/// A registration that answers drops itself from its waker: somebody must hold it meanwhile.
class Keep {
 public:
  explicit Keep(backend::Registration& registration) noexcept : registration_(registration) {
    registration_.add_ref();
  }
  Keep(const Keep&) = delete;
  Keep& operator=(const Keep&) = delete;
  ~Keep() { registration_.release(); }

 private:
  backend::Registration& registration_;
};

std::exception_ptr token_fired(const std::exception_ptr& cause) {
  OperationCancelled error;
  error.set_previous(cause);
  return std::make_exception_ptr(std::move(error));
}

// Whoever reports its error keeps it until it has been delivered.
void take_error_of(Event& event) noexcept {
  if (event.reports_error()) return;
  event.mark_exception_handled();
  event.mark_exception_caught();
}

}  // namespace

namespace backend {

const char* to_string(WakerStatus status) noexcept {
  switch (status) {
    case WakerStatus::None:
      return "none";
    case WakerStatus::Waiting:
      return "waiting";
    case WakerStatus::Queued:
      return "queued";
    case WakerStatus::Ignored:
      return "ignored";
    case WakerStatus::Result:
      return "result";
  }
  return "none";
}

void Registration::destroy() noexcept {
  FERMATA_ASSERT(event() == nullptr);
  coroutine_->waker().free(*this);
}

}  // namespace backend

// Where a wait ends: in the same unit as what calls it, so that both become one function.
[[gnu::flatten]] void detail::Scheduler::wake(CoroutineBase& coroutine, Event* source, void* result,
                                              const std::exception_ptr& error,
                                              backend::WakeCause cause) {
  backend::Waker& waker = coroutine.waker_;
  switch (waker.status) {
    case backend::WakerStatus::Queued:
    case backend::WakerStatus::Ignored:
    case backend::WakerStatus::Result:
      return;
    case backend::WakerStatus::None:
      // A registered event may fire between the registration and the suspend.
      FERMATA_REQUIRE(!coroutine.is_closed() && !waker.empty(),
                      "the coroutine has not been suspended");
      break;
    case backend::WakerStatus::Waiting:
      break;
  }
  waker.result = result;
  waker.triggered = source;
  if (error) [[unlikely]] {
    waker.fail(error);
  }
  const bool is_current = &coroutine == current_;
  waker.end_wait(is_current ? backend::WakerStatus::Result : backend::WakerStatus::Queued);
  if (!is_current) enqueue(coroutine, cause);
}

namespace backend {

// Most waits end with a result. What else ends one is kept out of the way of that.
[[gnu::flatten]] void Registration::run(Event& event, const Outcome& outcome) {
  FERMATA_ASSERT(&event == source_);
  if (rule_ != WakeRule::Resolve || outcome.error) [[unlikely]] {
    return run_rarely(event, outcome);
  }
  event.runtime().scheduler().wake(*coroutine_, &event, outcome.result, nullptr, WakeCause::Event);
}

[[gnu::noinline]] void Registration::run_rarely(Event& event, const Outcome& outcome) {
  CoroutineBase& waiter = *coroutine_;
  detail::Scheduler& scheduler = event.runtime().scheduler();
  switch (rule_) {
    case WakeRule::Resolve:
      fail(event, outcome);
      return;
    case WakeRule::Token:
      if (event.void_as_token()) return;
      if (outcome.error) take_error_of(event);
      scheduler.wake(waiter, &event, nullptr, token_fired(outcome.error), WakeCause::Event);
      return;
    case WakeRule::Timeout:
      scheduler.wake(waiter, &event, nullptr,
                     outcome.error ? outcome.error : static_cast<Timer&>(event).timeout_error(),
                     WakeCause::Event);
      return;
    case WakeRule::Custom:
      FERMATA_ASSERT(handler_ != nullptr);
      handler_(*this, event, outcome);
      return;
  }
}

void Registration::fail(Event& event, const Outcome& outcome) {
  FERMATA_ASSERT(outcome.error != nullptr);
  take_error_of(event);
  event.runtime().scheduler().wake(*coroutine_, &event, outcome.result,
                                   event.error_for_waiter(outcome.error), WakeCause::Event);
}

void Waker::resume_when(Event& event, WakeRule rule, bool transfer, WaitHandler handler,
                        void* context) {
  const Outcome* stored = event.replay();
  FERMATA_REQUIRE(!event.is_closed() || stored != nullptr, kTerminated);
  FERMATA_REQUIRE(status == WakerStatus::None || status == WakerStatus::Waiting,
                  "resume_when: the coroutine is already on its way back from its wait");
  FERMATA_ASSERT((rule == WakeRule::Custom) == (handler != nullptr));
  Registration& registration = append_registration();
  registration.source_ = &event;
  registration.rule_ = rule;
  registration.handler_ = handler;
  registration.context = context;
  event.add_ref();
  if (!event.is_closed()) event.add_callback(registration);
  if (status == WakerStatus::Waiting) {
    if (event.is_closed()) {
      event.runtime().kernel().trace(Trace::CallbackCalled, &event, 0);
      const Keep keep(registration);
      registration.run(event, *stored);
    } else {
      try {
        start(registration);
      } catch (...) {
        drop_last();
        throw;
      }
    }
  }
  if (transfer) event.release();
}

FERMATA_COLD void Waker::fail(const std::exception_ptr& answer) noexcept {
  FERMATA_ASSERT(answer != nullptr);
  FERMATA_ASSERT(!holds_failed_);
  error = answer;
  if (triggered == nullptr || !triggered->reports_error()) return;
  triggered->add_ref();
  holds_failed_ = true;
}

void Waker::cancel(const std::exception_ptr& reason) {
  FERMATA_ASSERT(reason != nullptr);
  if (!cancelled_) error = link_previous(reason, error);
  cancelled_ = true;
  result = nullptr;
  FERMATA_ASSERT(error != nullptr);
}

std::exception_ptr Waker::take_error() noexcept {
  FERMATA_ASSERT(error != nullptr);
  FERMATA_ASSERT(!holds_failed_ || triggered != nullptr);
  if (holds_failed_ && !cancelled_) triggered->mark_exception_caught();
  std::exception_ptr taken = error;
  clear();
  return taken;
}

void Waker::drop_error() noexcept {
  FERMATA_ASSERT(error != nullptr);
  FERMATA_ASSERT(!holds_failed_ || triggered != nullptr);
  error = nullptr;
  cancelled_ = false;
  if (std::exchange(holds_failed_, false)) std::exchange(triggered, nullptr)->release();
}

void Waker::start_events() {
  FERMATA_ASSERT(status == WakerStatus::Waiting);
  Registration* entry = first_;
  while (entry != nullptr) {
    Event& event = *entry->source_;
    if (event.is_closed()) {
      const Outcome* outcome = event.replay();
      FERMATA_REQUIRE(outcome != nullptr, kTerminated);
      event.runtime().kernel().trace(Trace::CallbackCalled, &event, 0);
      const Keep keep(*entry);
      entry->run(event, *outcome);
    } else if (event.loop_ref_count() > 0) {
      start_again(*entry, event.runtime().kernel());
    } else if (event.is_startable()) {
      start(*entry);
    }
    if (status != WakerStatus::Waiting) return;
    entry = entry->next_;
  }
}

void Waker::start(Registration& entry) {
  FERMATA_ASSERT(!entry.started_);
  FERMATA_ASSERT(status == WakerStatus::Waiting);
  const auto event = Ref<Event>::share(*entry.source_);
  event->start();
  if (status == WakerStatus::Waiting) {
    entry.started_ = true;
    entry.round_ = event->round();
  } else {
    event->stop();  // It answered while it was being armed: the registration is gone.
  }
}

[[gnu::flatten]] void Waker::drop_first() noexcept {
  FERMATA_ASSERT(first_ != nullptr);
  Registration* entry = first_;
  first_ = entry->next_;
  let_go(*entry);
}

void Waker::drop_last() noexcept {
  FERMATA_ASSERT(first_ != nullptr);
  FERMATA_ASSERT(last_->next_ == nullptr);
  Registration* const entry = last_;
  Registration** link = &first_;
  for (; *link != entry; link = &(*link)->next_) last_ = *link;
  *link = nullptr;
  let_go(*entry);
}

void Waker::let_go(Registration& registration) noexcept {
  Event& event = *registration.source_;
  const bool started = std::exchange(registration.started_, false);
  if (started && registration.round_ == event.round()) event.stop();
  event.remove_callback(registration);
  registration.release();
  event.release();
}

Registration& Waker::other_registration() {
  FERMATA_ASSERT((slots_in_use_ & 1) != 0);
  for (std::uint8_t slot = 0; slot < kSlots; ++slot) {
    if ((slots_in_use_ >> slot & 1) == 0) return in_slot(slot);
  }
  return *new Registration(*coroutine_, Registration::kOnHeap);
}

}  // namespace backend

}  // namespace fermata
