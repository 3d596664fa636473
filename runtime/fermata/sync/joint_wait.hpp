// SPDX-License-Identifier: Apache-2.0
#pragma once

// The engine of the combinators: one coroutine waits for several events at once.
//
// Items       Each is subscribed to and started only while the coroutine is parked, each at most
//             once, and let go the moment it has answered or the wait is over: then nothing of
//             this is left at it (CORE-AW-05).
// Settling    Once. What ends later is not looked at, also before the waiter runs (CORE-AW-04).
//             Items that have ended already answer first, in the order of the items.
// Errors      An error is taken when it is delivered: until then an item that failed still has one
//             that nobody has caught, and has it for good when the waiter is cancelled first
//             (CORE-AW-08).
// Allocation  A block for the items; none for each.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await_options.hpp"
#include "fermata/sync/event_part.hpp"
#include "fermata/sync/operation.hpp"

namespace fermata::detail {

class JointWait;

/// One event among those waited for.
class JointItem final : public EventPart {
 public:
  enum class State : std::uint8_t {
    Pending,
    Succeeded,
    Failed,
    Left,  // was not needed, and was not joined
  };

  void run(Event& event, const Outcome& outcome) override;

  [[nodiscard]] std::size_t index() const noexcept { return index_; }
  [[nodiscard]] State state() const noexcept { return state_; }
  /// How it failed; null unless it did.
  [[nodiscard]] const std::exception_ptr& error() const noexcept { return error_; }
  /// Whether it ended after the wait was settled, while it was joined.
  [[nodiscard]] bool is_late() const noexcept { return late_; }

  [[nodiscard]] JointItem* next() const noexcept { return next_; }
  [[nodiscard]] JointItem* next_ended() const noexcept { return next_ended_; }

 private:
  friend class JointWait;

  JointWait* wait_ = nullptr;
  std::exception_ptr error_;
  JointItem* next_ = nullptr;
  JointItem* next_ended_ = nullptr;
  std::size_t index_ = 0;
  bool late_ = false;
  State state_ = State::Pending;
};

/// The rule for the end of a wait.
struct JointRule {
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

  const char* operation;  // Its name, for messages.
  /// The number of items that must complete, or all when there are fewer.
  std::size_t needed = kAll;
  /// Whether failures are ignored; otherwise the first one ends the wait.
  bool ignore_errors = false;
};

class JointWait final : public Event {
 public:
  /// Looks at the options: UsageError, or OperationCancelled when the token has fired.
  JointWait(const JointRule& rule, const AwaitOptions& options);
  ~JointWait() override { shut(); }

  /// Makes room for so many more items.
  void reserve(std::size_t count);

  /// Adds an item; `event` must not be null. Throws UsageError on the current coroutine, and on a
  /// closed event that cannot replay.
  void add(Event* event);

  /// There will be no more items.
  void seal();

  /// `pull` adds one item each time it is called, until it returns false; it may suspend. From
  /// here on a coroutine of its own calls it, while not too many items are pending. What it throws
  /// ends the wait.
  void feed(std::function<bool()> pull, const SourcePlace& place);

  /// Waits until the rule is satisfied, and then as the exit policy says. Throws the error of the
  /// failed item that ended the wait, or what the waiter itself got: Cancellation, Timeout,
  /// OperationCancelled. On return every failure among the items that ended is the caller's.
  void run(const SourcePlace& place);

  [[nodiscard]] const AwaitOptions& options() const noexcept { return options_; }

  [[nodiscard]] const JointItem* first() const noexcept { return first_; }
  /// In the order of completion.
  [[nodiscard]] const JointItem* first_ended() const noexcept { return first_ended_; }

  /// Whether the item had succeeded when the wait was settled.
  [[nodiscard]] bool counts(const JointItem& item) const noexcept {
    return item.state() == JointItem::State::Succeeded && !item.is_late();
  }
  /// Whether the item failed, and not because the wait has cancelled it.
  [[nodiscard]] bool reports(const JointItem& item) const noexcept;

  [[nodiscard]] std::string info() const override;
  void explain_wait(backend::WaitFacts& facts, const CoroutineBase& waiter) const override;

 private:
  friend class JointItem;

  void arm() override;
  void disarm() noexcept override;
  void dispose() noexcept override {}

  void ended(JointItem& item, const Outcome& outcome);
  void answer_if_closed(JointItem& item);
  void settle_if_satisfied();
  void settle(const std::exception_ptr& error);
  void wait_for_settlement(const WaitOptions& options, const SourcePlace& place);
  [[noreturn]] void fail();
  std::exception_ptr stop_source(std::exception_ptr&& interrupted, const SourcePlace& place);
  void leave(std::exception_ptr&& interrupted, const SourcePlace& place);
  std::exception_ptr join(const WaitOptions& limits, const SourcePlace& place);
  void cancel_pending();
  void catch_late_failures() noexcept;

  JointRule rule_;
  AwaitOptions options_;
  CoroutineBase* waiter_;
  Deadline deadline_;
  std::vector<std::unique_ptr<JointItem[]>> blocks_;
  std::size_t room_ = 0;  // Unused items of the last block.
  JointItem* next_free_ = nullptr;
  JointItem* first_ = nullptr;
  JointItem* last_ = nullptr;
  JointItem* first_ended_ = nullptr;
  JointItem* last_ended_ = nullptr;
  std::size_t total_ = 0;
  std::size_t pending_ = 0;
  std::size_t succeeded_ = 0;
  bool sealed_ = false;
  bool settled_ = false;
  bool joining_ = false;
  Coroutine<> source_;        // Who adds the items, when they come one by one.
  Ref<Event> room_for_more_;  // Fires when an item has ended; only with a source.
  Subscription source_ended_;
  JointItem* failed_ = nullptr;  // Whose failure ended the wait.
  std::exception_ptr error_;     // What the wait ends with.
};

}  // namespace fermata::detail
