// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/event.hpp"

#include <fmt/format.h>

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

const char* backend::to_string(EventKind kind) noexcept {
  switch (kind) {
    case EventKind::Plain:
      return "Event";
    case EventKind::Scope:
      return "Scope";
    case EventKind::Coroutine:
      return "Coroutine";
    case EventKind::Timer:
      return "Timer";
    case EventKind::Poll:
      return "Poll";
    case EventKind::PollProxy:
      return "PollProxy";
    case EventKind::Signal:
      return "Signal";
    case EventKind::Trigger:
      return "Trigger";
    case EventKind::Task:
      return "Task";
    case EventKind::Thread:
      return "Thread";
    case EventKind::Process:
      return "Process";
    case EventKind::Listener:
      return "Listener";
    case EventKind::Request:
      return "Request";
    case EventKind::Io:
      return "Io";
    case EventKind::Joint:
      return "Joint";
  }
  return "Event";
}

Event::Event(Runtime& runtime, backend::EventKind kind) noexcept
    : runtime_(&runtime), serial_(runtime.kernel().next_serial++), kind_(kind) {
  runtime.kernel().live_events.push_back(*this);
  runtime.kernel().trace(backend::Trace::EventCreated, this, static_cast<std::uint64_t>(kind));
}

Event::~Event() {
  if (!is_closed() || callbacks_.size() > 0 || references_ != nullptr) shut();
  FERMATA_ASSERT(loop_ref_count_ == 0);
  runtime_->kernel().trace(backend::Trace::EventDestroyed, this, 0);
  runtime_->kernel().live_events.remove(*this);
}

bool Event::add_callback(backend::Callback& callback) {
  if (is_closed()) [[unlikely]] {
    replay_to(callback);
    return false;
  }
  callbacks_.add(callback, *this);
  runtime_->kernel().trace(backend::Trace::CallbackAdded, this, 0);
  return true;
}

void Event::replay_to(backend::Callback& callback) {
  FERMATA_ASSERT(is_closed());
  FERMATA_REQUIRE(callback.event() == nullptr, "a callback can be subscribed only once at a time");
  const Outcome* outcome = replay();
  if (outcome == nullptr) return;
  runtime_->kernel().trace(backend::Trace::CallbackCalled, this, 0);
  callback.add_ref();
  struct Release {
    backend::Callback& callback;
    ~Release() { callback.release(); }
  } release{callback};
  const detail::NoSuspend no_suspend(*runtime_);
  callback.run(*this, *outcome);
}

[[gnu::flatten]] bool Event::remove_callback(backend::Callback& callback) noexcept {
  if (!callbacks_.remove(callback, *this)) return false;
  runtime_->kernel().trace(backend::Trace::CallbackRemoved, this, 0);
  return true;
}

void Event::start() {
  if (is_closed() || !is_startable()) return;
  if (loop_ref_count_ == 0) {
    arm();
    if (is_closed()) return disarm();  // It has fired for good at once.
    FERMATA_ASSERT(loop_ref_count_ == 0);
    if (counts_when_started()) ++runtime_->kernel().active_events;
  }
  ++loop_ref_count_;
  runtime_->kernel().trace(backend::Trace::EventStarted, this, loop_ref_count_);
}

void Event::stop() noexcept {
  if (loop_ref_count_ == 0) return;
  if (loop_ref_count_ > 1) {
    --loop_ref_count_;
  } else {
    leave_loop();
  }
  runtime_->kernel().trace(backend::Trace::EventStopped, this, loop_ref_count_);
}

void Event::leave_loop() noexcept {
  FERMATA_ASSERT(loop_ref_count_ > 0);
  loop_ref_count_ = 0;
  ++round_;
  if (counts_when_started()) {
    FERMATA_ASSERT(runtime_->kernel().active_events > 0);
    --runtime_->kernel().active_events;
  }
  disarm();
  FERMATA_ASSERT(loop_ref_count_ == 0);
}

void Event::set_hidden(bool hidden) {
  FERMATA_REQUIRE(loop_ref_count_ == 0, "an event can be hidden or shown only while it is stopped");
  flags_ = static_cast<std::uint16_t>(hidden ? flags_ | kHidden : flags_ & ~kHidden);
}

void Event::close_now() noexcept {
  flags_ |= kClosed;
  if (loop_ref_count_ > 0) leave_loop();
  runtime_->kernel().trace(backend::Trace::EventClosed, this, 0);
}

bool Event::transform(const Outcome& outcome) {
  FERMATA_ASSERT(notify_handler_ != nullptr);
  const auto guard = Ref<Event>::share(*this);
  notify_handler_(*this, outcome);
  return exception_handled();
}

bool Event::notify_and_close(const Outcome& outcome) {
  const auto guard = Ref<Event>::share(*this);
  close();
  return notify(outcome);
}

[[gnu::always_inline]] inline std::exception_ptr Event::run_pass(const Outcome& outcome) {
  return callbacks_.run_pass(*this, outcome, [this] {
    runtime_->kernel().trace(backend::Trace::CallbackCalled, this, 0);
  });
}

bool Event::notify_from_handler(const Outcome& outcome) {
  if (queued_ != nullptr) [[unlikely]] {
    if (!*queued_) queued_->emplace();
    (*queued_)->push(outcome);
    return false;
  }
  flags_ = static_cast<std::uint16_t>(flags_ & ~kExceptionHandled);
  runtime_->kernel().trace(backend::Trace::EventFired, this, callbacks_.size());
  if (callbacks_.size() == 0) return false;
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

void Event::shut() noexcept {
  if (has(kShut)) return;
  flags_ |= kShut;
  close();
  drop_subscribers();
  while (references_ != nullptr) {
    backend::EventRef* reference = references_;
    references_ = reference->after_;
    reference->event_ = nullptr;
  }
  FERMATA_ASSERT(is_closed());
  FERMATA_ASSERT(callbacks_.size() == 0);
}

std::string Event::info_with_place() const {
  const SourcePlace* place = made_at();
  return place == nullptr ? info() : fmt::format("{}, made at {}", info(), place->text());
}

std::string Event::info() const { return fmt::format("{} #{}", to_string(kind_), serial_); }

backend::EventRef::EventRef(Event& event) noexcept : event_(&event), after_(event.references_) {
  if (after_ != nullptr) after_->before_ = this;
  event.references_ = this;
}

backend::EventRef::~EventRef() {
  if (event_ == nullptr) return;
  FERMATA_ASSERT(before_ != nullptr || event_->references_ == this);
  FERMATA_ASSERT(after_ == nullptr || after_->before_ == this);
  (before_ != nullptr ? before_->after_ : event_->references_) = after_;
  if (after_ != nullptr) after_->before_ = before_;
}

void Subscription::cancel() noexcept {
  backend::Callback* callback = std::exchange(callback_, nullptr);
  if (callback == nullptr) return;
  FERMATA_ASSERT(callback->ref_count() > 0);
  if (Event* event = callback->event()) event->remove_callback(*callback);
  callback->release();
}

}  // namespace fermata
