// SPDX-License-Identifier: Apache-2.0
#pragma once

// A deadline that can be waited for, given to many waits as their token, and called off.
//
// Deadline     Absolute, fixed when it is made: it does not start afresh with each wait.
// Activity     Armed only while somebody waits: one that nobody waits for keeps no program alive
//              and hides no deadlock (CORE-CN-08). Waited for after its deadline it fires at once.
// Outcome      It ends with Timeout, for good: who waits later gets it without suspending
//              (CORE-CN-09), each an error object of its own. As a token it ends the wait with
//              OperationCancelled, whose previous is the Timeout.
// Suspension   Nothing here suspends.

#include "fermata/core/awaited_error.hpp"
#include "fermata/core/timer.hpp"

namespace fermata {

namespace backend {

class TimeoutEvent final : public Timer {
 public:
  /// What make_timeout does, in `runtime`.
  TimeoutEvent(Runtime& runtime, Duration span);
  ~TimeoutEvent() override { shut(); }

  [[nodiscard]] Instant deadline() const noexcept { return deadline_; }

  /// Calls it off: who waits for it, now or later, gets `reason`, which must hold a Cancellation
  /// (null: "Timeout has been cancelled"; UsageError otherwise); the waits that it is the token of
  /// go on without it. No effect once it has ended.
  void cancel(std::exception_ptr reason = nullptr);

  /// Whether it has fired or was cancelled.
  [[nodiscard]] bool is_completed() const noexcept { return is_closed(); }
  [[nodiscard]] bool is_cancelled() const noexcept { return cancelled_; }

  [[nodiscard]] const Outcome* replay() const noexcept override {
    return is_closed() ? &outcome_ : nullptr;
  }
  [[nodiscard]] std::exception_ptr error_for_waiter(const std::exception_ptr& error) override;
  [[nodiscard]] bool void_as_token() const noexcept override { return cancelled_; }
  bool request_cancel(const std::exception_ptr& reason) override;
  [[nodiscard]] std::string info() const override;

 private:
  void arm() override;
  void dispose() noexcept override { delete this; }
  static void turn_into_error(Event& event, const Outcome& outcome);

  Instant deadline_;
  bool cancelled_ = false;
  Outcome outcome_;  // Valid once closed.
  detail::AwaitedError awaited_error_;
};

}  // namespace backend

/// A deadline `span` from now, in the runtime of this thread; the reference owns it. Throws
/// UsageError unless `span` is more than zero.
[[nodiscard]] Ref<backend::TimeoutEvent> make_timeout(Duration span);

}  // namespace fermata
