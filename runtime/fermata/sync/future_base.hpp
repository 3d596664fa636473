// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a promise and its futures share, but for the type of the value.
//
// Life cycle   pending -> value or error, once (FUT-01). Resolving closes it, notes where, wakes
//              who awaits it, hands its chain to a coroutine and drops every subscriber. No code of
//              awaiters or of the chain runs before that returns (FUT-02); callbacks that are
//              subscribed to the event do.
// Ownership    Promises, futures and waiters hold references; one more stands for the chain while
//              it is not empty (FUT-13). A core that has another one's outcome refers to that one.
// Suspension   Nothing here suspends.
// Diagnostics  Warnings in the runtime's log when the last reference goes (FUT-11); never thrown.
// Source       FUT-01 to 18.

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/base/name.hpp"
#include "fermata/base/source_place.hpp"
#include "fermata/core/awaited_error.hpp"
#include "fermata/core/event.hpp"
#include "fermata/sync/future_chain.hpp"

namespace fermata {

struct PromiseOptions {
  Name name;
  /// The future fails with BrokenPromise when somebody waits for it and no promise is left; without
  /// it the waiters sleep until a deadlock is declared (FUT-18).
  bool breaks = true;
};

namespace detail {

/// The writing side of a core, on another thread.
class WriterElsewhere {
 public:
  virtual ~WriterElsewhere() = default;
  /// The reading side has no use for a value any more; `cancel`: nor for the work.
  virtual void dismiss(bool cancel) noexcept = 0;
  /// Reports who is going to complete the future, as far as known.
  virtual void explain(backend::WaitFacts& facts) const = 0;
};

class FutureBase : public Event {
 public:
  [[nodiscard]] bool is_completed() const noexcept { return has(kCompleted); }
  [[nodiscard]] bool is_cancelled() const noexcept { return is_cancellation(outcome_.error); }
  /// Empty while it is pending.
  [[nodiscard]] const Outcome& outcome() const noexcept { return outcome_; }
  [[nodiscard]] const SourcePlace& created_place() const noexcept { return created_; }
  [[nodiscard]] const SourcePlace* made_at() const noexcept override { return &created_; }
  /// The place where it was completed; "unknown:0" while it is pending.
  [[nodiscard]] const SourcePlace& completed_place() const noexcept { return completed_; }
  /// The coroutines that are parked on it.
  [[nodiscard]] std::vector<std::string> awaiting_info() const;
  /// "Future(pending)" or "Future(completed)".
  [[nodiscard]] std::string info() const override;
  void explain_wait(backend::WaitFacts& facts, const CoroutineBase& waiter) const override;
  [[nodiscard]] bool answers_for(const Event& other) const noexcept override;

  [[nodiscard]] const Outcome* replay() const noexcept override {
    return is_completed() ? &outcome_ : nullptr;
  }
  [[nodiscard]] bool reports_error() const noexcept override { return true; }
  [[nodiscard]] std::exception_ptr error_for_waiter(const std::exception_ptr& error) override;

  /// No warning is given about it.
  void ignore() noexcept { set(kIgnored); }
  [[nodiscard]] bool is_ignored() const noexcept { return has(kIgnored); }

  // --- the writing side ---

  void add_writer() noexcept { ++writers_; }
  /// The last one breaks the promise when somebody waits; one that has been given away is not the
  /// callers' to break.
  void drop_writer() noexcept {
    FERMATA_ASSERT(writers_ > 0);
    --writers_;
    if (is_completed()) return;
    touched();
    if (writers_ == 0 && !has(kGivenAway)) lose_writers();
  }
  /// Nobody is left to complete a pending one.
  void lose_writers() noexcept;
  /// Throws UsageError unless the callers' promises may complete it now.
  void require_writable() const {
    if (has(kCompleted) || has(kGivenAway)) [[unlikely]] {
      refuse_write();
    }
  }
  /// Whether the future can still be completed. Throws UsageError when it has been given away.
  [[nodiscard]] bool is_writable() const;
  /// Throws UsageError when it is completed, or has been given away already.
  void require_transferable() const;
  /// From now on `writer` completes it and nobody else. REQUIRES: it is transferable.
  void give_away(std::unique_ptr<WriterElsewhere> writer) noexcept;
  /// Nobody will ever complete it: its chain is dropped, and the futures in it stay pending.
  void abandon_chain() noexcept;

  /// Ends it unless it has ended: somebody may have cancelled it. What subscribed callbacks throw
  /// is unhandled.
  void settle(const Outcome& outcome, const SourcePlace& place, ChainWalk* walk = nullptr) noexcept;
  /// Settles it as `source` ended: with the same objects, and the duty to report an error.
  void inherit(FutureBase& source, const SourcePlace& place, ChainWalk* walk) noexcept;
  /// When the error of this one is caught, that of `source` is too.
  void answer_for(FutureBase& source) noexcept;

  /// REQUIRES: it is pending. Throws what subscribed callbacks threw, when everything is done.
  void resolve(const Outcome& outcome, const SourcePlace& place, ChainWalk* walk = nullptr);

  // --- the reading side ---

  /// Fails a pending one that no promise is left for, now that somebody asks (FUT-18).
  void break_if_abandoned() {
    if (has(kAbandoned) && !is_completed()) break_promise();
  }
  /// Rejects a pending one with `reason`, a Cancellation.
  void cancel(std::exception_ptr reason, const SourcePlace& place);
  bool request_cancel(const std::exception_ptr& reason) override {
    cancel(reason, SourcePlace{});
    return true;
  }
  /// Adds `link` to the chain, in the scope of the current coroutine. On a completed one its
  /// coroutine is spawned now.
  void attach(ChainLink& link);

 protected:
  FutureBase(Runtime& runtime, PromiseOptions&& options, const SourcePlace& created) noexcept
      : Event(runtime, backend::EventKind::Plain),
        created_(created),
        name_(std::move(options.name)),
        state_(options.breaks ? kBreaks : 0) {
    promise_to_tell();
  }
  ~FutureBase() override = default;

  /// Ends the object and gives its memory back.
  virtual void destroy() noexcept = 0;

 private:
  enum State : std::uint8_t {
    kCompleted = 1u << 0,
    kIgnored = 1u << 1,
    kBreaks = 1u << 2,
    kGivenAway = 1u << 3,
    kAbandoned = 1u << 4,
  };

  [[nodiscard]] bool has(State state) const noexcept { return (state_ & state) != 0; }
  void set(State state) noexcept { state_ = static_cast<std::uint8_t>(state_ | state); }
  void dispose() noexcept override;
  [[noreturn]] void refuse_write() const;
  void break_promise() noexcept;
  void dismiss_writer(bool cancel) noexcept;
  void hand_over_chain(ChainWalk* walk) noexcept;
  void warn() const noexcept;
  void log_warning(bool unhandled) const noexcept;
  [[nodiscard]] std::string identity() const;

  Outcome outcome_;
  AwaitedError awaited_error_;
  SourcePlace created_;
  SourcePlace completed_;
  Name name_;
  ChainLinks chain_;
  Ref<FutureBase> source_;  // Whose outcome, or whose error, this one answers for.
  std::unique_ptr<WriterElsewhere> elsewhere_;
  std::uint32_t writers_ = 0;
  std::uint8_t state_;
};

}  // namespace detail
}  // namespace fermata
