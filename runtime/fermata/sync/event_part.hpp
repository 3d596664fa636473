// SPDX-License-Identifier: Apache-2.0
#pragma once

// One of several events that a coroutine waits for at once.

#include <cstdint>

#include "fermata/core/event.hpp"

namespace fermata::detail {

/// A subscription that holds its event started for as long as it listens.
///
/// It shares the event. It stands wherever its wait keeps it; the wait lets go of it before that
/// ends.
class EventPart : public backend::Callback {
 public:
  [[nodiscard]] Event& event() const noexcept { return *event_; }

 protected:
  EventPart() = default;
  ~EventPart() = default;

  void set_event(Event& event) noexcept {
    FERMATA_ASSERT(!event_);
    event_ = Ref<Event>::share(event);
  }
  /// Subscribes, without starting the event.
  void subscribe() { event_->add_callback(*this); }
  /// Starts the event, which may answer at once, and end this. Throws what starting it throws; then
  /// nothing has changed.
  void start_event();
  /// The error of an outcome that the event has told of, as its waiter gets it; null for none. An
  /// event that keeps its outcome is owed a taker from now on, another one has found it.
  [[nodiscard]] std::exception_ptr error_in(const Outcome& outcome) const;
  /// Stops what was started, and unsubscribes. Nothing when it does not listen.
  void let_go() noexcept;

 private:
  void destroy() noexcept override {}

  Ref<Event> event_;
  std::uint32_t round_ = 0;  // The event's, when it was started.
  bool started_ = false;
};

}  // namespace fermata::detail
