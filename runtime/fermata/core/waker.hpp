// SPDX-License-Identifier: Apache-2.0
#pragma once

// What one coroutine waits for and what it got.
//
// Protocol     resume_when() registers; nothing is armed before suspend (CORE-WK-04); the first
//              wake wins: it freezes result and error, stops what this waker started, each once,
//              and unsubscribes from everything (CORE-WK-03, WK-05, WK-07).
// Errors       An error that ends a wait is caught when it is thrown there, not at the wake. Until
//              then the waker keeps the event that failed, if it is one that reports its error (a
//              coroutine, a future): when the waiter is cancelled first, or unwound, that one
//              still has an error that nobody has taken (CORE-CO-10).
// Allocation   None for up to two registrations.
// Source       CORE-WK-01 to 15.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <utility>

#include "fermata/base/source_place.hpp"
#include "fermata/core/event.hpp"

namespace fermata {
class CoroutineBase;
}  // namespace fermata

namespace fermata::backend {

enum class WakerStatus : std::uint8_t {
  None,     // neither waiting nor queued
  Waiting,  // suspended, or about to be
  Queued,   // in the ready queue
  Ignored,  // in the ready queue, cancelled before its start: the body will not run
  Result,   // has been given control, or was answered before it left
};

[[nodiscard]] const char* to_string(WakerStatus status) noexcept;

/// The meaning of a registered event's firing for the waiter.
enum class WakeRule : std::uint8_t {
  Resolve,  // the outcome is the answer
  Token,    // OperationCancelled, with the token's error as previous
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
  [[nodiscard]] bool is_started() const noexcept { return started_; }
  [[nodiscard]] WakeRule rule() const noexcept { return rule_; }
  /// The event waited for; it stays set after the event let go of the subscription.
  [[nodiscard]] Event& source() const noexcept { return *source_; }

 private:
  friend class Waker;
  friend struct detail::DebuggerLayout;

  static constexpr std::uint8_t kOnHeap = 0xff;

  Registration(CoroutineBase& coroutine, std::uint8_t slot) noexcept
      : Callback(true), slot_(slot), coroutine_(&coroutine) {}
  void destroy() noexcept override;
  void run_rarely(Event& event, const Outcome& outcome);
  void fail(Event& event, const Outcome& outcome);

  WakeRule rule_ = WakeRule::Resolve;  // The first ones lie where Callback ends.
  bool started_ = false;
  std::uint8_t slot_;        // Of its waker, or kOnHeap.
  std::uint32_t round_ = 0;  // The event's, when it was started.
  CoroutineBase* coroutine_;
  Event* source_ = nullptr;
  Registration* next_ = nullptr;
  WaitHandler handler_ = nullptr;

 public:
  /// The context that `resume_when` was given for a custom registration.
  void* context = nullptr;
};

static_assert(sizeof(Registration) == 72);

class Waker {
 public:
  explicit Waker(CoroutineBase& coroutine) noexcept : coroutine_(&coroutine) {}
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
  [[gnu::always_inline]] void add(Event& event, WakeRule rule, fermata::detail::Kernel& kernel) {
    FERMATA_ASSERT(status != WakerStatus::Waiting);
    Registration& registration = append_registration();
    registration.source_ = &event;
    registration.rule_ = rule;
    event.add_ref();
    event.add_callback(registration, kernel);
  }

  /// Starts the registered events in order until one of them answers; a closed one replays.
  void start_events();

  /// start_events() for one event that has been started already, so that nothing is armed and
  /// nothing answers or throws. False, and no effect, when there are more, or it has not.
  [[gnu::always_inline]] bool start_again(fermata::detail::Kernel& kernel) noexcept {
    if (first_->next_ != nullptr || first_->source_->loop_ref_count() == 0) return false;
    start_again(*first_, kernel);
    return true;
  }

  /// Stops what was started, once each, unsubscribes, drops references.
  void unsubscribe() noexcept {
    while (first_ != nullptr) drop_first();
  }

  /// Unsubscribes from the first event alone. The reference to it becomes the caller's. REQUIRES:
  /// nobody else is among `subscribers`, those of that event.
  [[gnu::always_inline]] void leave_first(CallbackVector& subscribers) noexcept {
    Registration& registration = *first_;
    Event& event = *registration.source_;
    first_ = registration.next_;
    const bool started = std::exchange(registration.started_, false);
    if (started && registration.round_ == event.round()) event.stop();
    subscribers.remove_only(registration);
    FERMATA_ASSERT(registration.ref_count() == 1);
    free(registration);
  }

  /// Ends the wait: the answer stands, and what is stopped here may fire in vain.
  void end_wait(WakerStatus next) noexcept {
    FERMATA_ASSERT(next != WakerStatus::None && next != WakerStatus::Waiting);
    status = next;
    unsubscribe();
  }

  /// Back to None: no registration, no result, no error (CORE-WK-09).
  void clear() noexcept {
    unsubscribe();
    if (error) [[unlikely]] {
      drop_error();
    }
    status = WakerStatus::None;
    result = nullptr;
    triggered = nullptr;
  }

  /// The wait ends with `answer`, which came from `triggered`.
  void fail(const std::exception_ptr& answer) noexcept;

  /// The coroutine's own cancellation takes the place of the answer; an error that the wait had
  /// ended with is its previous. The first one of several stays.
  void cancel(const std::exception_ptr& reason);

  /// Gives `error` to the coroutine, which makes it caught, and clears the waker.
  [[nodiscard]] std::exception_ptr take_error() noexcept;

  /// Whether it has the error of `event` and has not delivered it yet.
  [[nodiscard]] bool owes_error_of(const Event& event) const noexcept {
    return holds_failed_ && triggered == &event;
  }

  [[nodiscard]] Registration* first() const noexcept { return first_; }
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

  // The members are in the order in which a switch needs them: those up to `first_` share a cache
  // line with what it needs of the coroutine.
  WakerStatus status = WakerStatus::None;

 private:
  std::uint8_t slots_in_use_ = 0;  // A bit for each.
  bool cancelled_ = false;         // `error` is the coroutine's own cancellation.
  bool holds_failed_ = false;      // `triggered` is a reference to the event that failed.

 public:
  const SourcePlace* place = nullptr;  // Where the coroutine is suspended; on its own stack.
  std::exception_ptr error;

 private:
  Registration* first_ = nullptr;

 public:
  void* result = nullptr;
  Event* triggered = nullptr;  // Which event answered; for comparison only.

 private:
  friend class Registration;
  friend struct detail::DebuggerLayout;
  static constexpr std::uint8_t kSlots = 2;

  [[gnu::always_inline]] Registration& append_registration() {
    Registration& entry = (slots_in_use_ & 1) == 0 ? in_slot(0) : other_registration();
    entry.add_ref();
    (first_ != nullptr ? last_->next_ : first_) = &entry;
    last_ = &entry;
    return entry;
  }
  [[gnu::always_inline]] Registration& in_slot(std::uint8_t slot) noexcept {
    slots_in_use_ = static_cast<std::uint8_t>(slots_in_use_ | 1u << slot);
    return *::new (slots_[slot]) Registration(*coroutine_, slot);
  }
  Registration& other_registration();
  void free(Registration& registration) noexcept {
    if (registration.slot_ == Registration::kOnHeap) [[unlikely]] {
      delete &registration;
      return;
    }
    FERMATA_ASSERT(registration.slot_ < kSlots);
    FERMATA_ASSERT((slots_in_use_ >> registration.slot_ & 1) != 0);
    slots_in_use_ = static_cast<std::uint8_t>(slots_in_use_ & ~(1u << registration.slot_));
  }
  [[gnu::always_inline]] static void start_again(Registration& entry,
                                                 fermata::detail::Kernel& kernel) noexcept {
    Event& event = *entry.source_;
    event.start_again(kernel);
    entry.started_ = true;
    entry.round_ = event.round();
  }
  void start(Registration& entry);
  void drop_first() noexcept;
  void drop_last() noexcept;
  void drop_error() noexcept;
  static void let_go(Registration& registration) noexcept;

  Registration* last_ = nullptr;  // Valid while there is a first.
  CoroutineBase* coroutine_;
  alignas(Registration) std::byte slots_[kSlots][sizeof(Registration)];
};

}  // namespace fermata::backend
