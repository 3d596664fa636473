// SPDX-License-Identifier: Apache-2.0
#pragma once

// What one coroutine waits for and what it got.
//
// Protocol     resume_when() registers; nothing is armed before suspend (CORE-WK-04); the first
//              wake wins: it freezes result and error, stops what this waker started, each once,
//              and unsubscribes from everything (CORE-WK-03, WK-05, WK-07).
// Allocation   None for up to two registrations.
// Source       CORE-WK-01 to 15.

#include <cstdint>
#include <exception>

#include "fermata/runtime/base/source_place.hpp"
#include "fermata/runtime/core/event.hpp"

namespace fermata {

class CoroutineBase;

enum class WakerStatus : std::uint8_t {
  None,     // neither waiting nor queued
  Waiting,  // suspended, or about to be
  Queued,   // in the ready queue
  Ignored,  // in the ready queue, cancelled before its start: the body will not run
  Result,   // has been given control, or was answered before it left
};

[[nodiscard]] const char* to_string(WakerStatus status) noexcept;

/// What a fire of a registered event means for the waiter.
enum class WakeRule : std::uint8_t {
  Resolve,  // the outcome is the answer
  Token,    // OperationCanceled, with the token's error as previous
  Timeout,  // a Timeout error
  Custom,   // `WaitHandler` decides
};

class Registration;

/// Decides at each fire; wakes the coroutine itself when the wait is over.
using WaitHandler = void (*)(Registration& registration, Event& event, const Outcome& outcome);

/// The subscription of a waker to one event.
class Registration final : public Callback {
 public:
  void run(Event& event, const Outcome& outcome) override;

  [[nodiscard]] CoroutineBase& coroutine() const noexcept { return *coroutine_; }
  [[nodiscard]] Registration* next() const noexcept { return next_; }
  [[nodiscard]] bool started() const noexcept { return started_; }
  /// The event waited for; it stays set after the event let go of the subscription.
  [[nodiscard]] Event& source() const noexcept { return *source_; }

  /// Of a custom registration: what `resume_when` was given.
  void* context = nullptr;

 private:
  friend class Waker;

  void destroy() noexcept override {
    if (on_heap_) delete this;
  }

  CoroutineBase* coroutine_ = nullptr;
  Event* source_ = nullptr;
  Registration* next_ = nullptr;
  WaitHandler handler_ = nullptr;
  WakeRule rule_ = WakeRule::Resolve;
  bool started_ = false;
  bool on_heap_ = false;
  std::uint8_t round_ = 0;  // The event's, when it was started.
};

class Waker {
 public:
  explicit Waker(CoroutineBase& coroutine) noexcept {
    for (Registration& slot : inline_) slot.coroutine_ = &coroutine;
  }
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;
  ~Waker() { unsubscribe(); }

  /// Adds `event` to what the coroutine waits for, with a reference of its own; with `transfer` it
  /// takes over one that the caller holds. Starts the event only when the coroutine is waiting
  /// already. Throws UsageError on a closed event that cannot replay, or what starting it throws;
  /// then nothing has changed.
  void resume_when(Event& event, WakeRule rule, bool transfer = false,
                   WaitHandler handler = nullptr, void* context = nullptr);

  /// What resume_when does for an event that is open, and a coroutine that is not waiting yet.
  Registration& add(Event& event, WakeRule rule) {
    Registration& registration = append_registration();
    registration.source_ = &event;
    registration.rule_ = rule;
    event.add_ref();
    event.add_callback(registration);
    return registration;
  }

  /// Starts the registered events in order until one of them answers; a closed one replays.
  void start_events();

  /// Ends the wait: stops what was started, once each, unsubscribes, drops references.
  void unsubscribe() noexcept {
    while (first_ != nullptr) drop_first();
  }

  /// Back to None: no registration, no result, no error (CORE-WK-09).
  void clear() noexcept {
    unsubscribe();
    status = WakerStatus::None;
    result = nullptr;
    triggered = nullptr;
    if (error) error = nullptr;
  }

  [[nodiscard]] Registration* first() const noexcept { return first_; }
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

  WakerStatus status = WakerStatus::None;
  void* result = nullptr;
  std::exception_ptr error;
  Event* triggered = nullptr;  // Which event answered; for comparison only.
  SourcePlace place;           // Where the coroutine suspended last.

 private:
  static constexpr int kInline = 2;

  Registration& append_registration() {
    Registration& entry = first_ == nullptr && inline_[0].ref_count() == 0 ? inline_[0]
                                                                           : other_registration();
    entry.add_ref();
    entry.next_ = nullptr;
    entry.started_ = false;
    (last_ != nullptr ? last_->next_ : first_) = &entry;
    last_ = &entry;
    return entry;
  }
  Registration& other_registration();
  void start(Registration& entry);
  void drop_first() noexcept;
  void drop_last() noexcept;
  static void let_go(Registration& registration) noexcept;

  Registration* first_ = nullptr;
  Registration* last_ = nullptr;
  Registration inline_[kInline];
};

}  // namespace fermata
