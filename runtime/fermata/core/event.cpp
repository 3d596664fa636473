// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/event.hpp"

#include <fmt/format.h>

#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"

namespace fermata {

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
  detail::Kernel& kernel = runtime.kernel();
  if (kernel.lists_at_birth(kind)) enlist();
  kernel.trace(backend::Trace::EventCreated, this, static_cast<std::uint64_t>(kind));
}

Event::~Event() {
  shut();
  FERMATA_ASSERT(loop_ref_count_ == 0);
  detail::Kernel& kernel = runtime_->kernel();
  kernel.trace(backend::Trace::EventDestroyed, this, 0);
  if (has(kListed)) kernel.live_events.remove(*this);
}

void Event::enlist() noexcept {
  if (has(kListed)) return;
  flags_ |= kListed;
  runtime_->kernel().live_events.push_back(*this);
}

bool Event::add_callback(backend::Callback& callback) {
  if (is_closed()) [[unlikely]] {
    replay_to(callback);
    return false;
  }
  add_callback(callback, runtime_->kernel());
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
  if (is_closed() || !is_startable()) [[unlikely]] {
    return;
  }
  if (loop_ref_count_ == 0) [[likely]] {
    arm();
    if (is_closed()) [[unlikely]] {
      return disarm();  // It has fired for good at once.
    }
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

void Event::shut_now() noexcept {
  close();
  drop_subscribers();
  while (references_ != nullptr) {
    backend::EventRef* reference = references_;
    references_ = reference->after_;
    reference->event_ = nullptr;
  }
  FERMATA_ASSERT(is_shut());
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
