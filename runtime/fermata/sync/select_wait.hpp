// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a select waits for while none of its branches is due.
//
// Lines    A branch that waits for its turn in a line stands there as the select's coroutine does:
//          whoever grants it a turn wakes the coroutine, and who wants to grant it another one
//          afterwards finds it on its way already, and serves the next in line.
// Events   A branch that waits for an event listens to it for as long as the select is parked.

#include <string>

#include "fermata/core/suspend.hpp"
#include "fermata/sync/event_part.hpp"

namespace fermata::detail {

class SelectWait;

/// One branch of a parked select, as reports and the wait see it. It lives as long as the select is
/// parked, and knows its wait from its beginning to its end.
class SelectPlace {
 public:
  SelectPlace(const SelectPlace&) = delete;
  SelectPlace& operator=(const SelectPlace&) = delete;

 protected:
  explicit SelectPlace(SelectWait& wait);
  ~SelectPlace();

  [[nodiscard]] SelectWait& wait() const noexcept { return wait_; }

 private:
  friend class SelectWait;

  /// What it waits for.
  [[nodiscard]] virtual const Event& awaited() const noexcept = 0;
  /// Whether no other branch may wait for the same: a select does not meet itself.
  [[nodiscard]] virtual bool is_exclusive() const noexcept { return false; }
  /// The select is about to park. Nothing for who stands in a line.
  virtual void subscribe_place() {}
  virtual void start_place() {}
  /// The select has been woken, whatever the reason.
  virtual void let_go_of_place() noexcept {}

  SelectWait& wait_;
  Link<SelectPlace> link_;

 public:
  using List = IntrusiveList<SelectPlace, &SelectPlace::link_>;
};

/// A place that listens to an event.
class SelectEvent final : public SelectPlace, private EventPart {
 public:
  SelectEvent(SelectWait& wait, Event& event);

  /// Whether the event has fired since the select parked, or keeps an outcome.
  [[nodiscard]] bool is_due() const noexcept { return fired_ || event().is_closed(); }
  /// Takes the outcome of an event that is due: throws its error, which then counts as caught.
  void take_outcome();

 private:
  [[nodiscard]] const Event& awaited() const noexcept override { return event(); }
  void subscribe_place() override { subscribe(); }
  void start_place() override;
  void let_go_of_place() noexcept override;
  void run(Event& event, const Outcome& outcome) override;

  std::exception_ptr error_;  // Of an event that keeps no outcome.
  bool fired_ = false;
};

class SelectWait final : public Event {
 public:
  SelectWait() : Event(current_runtime(), backend::EventKind::Joint) { promise_to_tell(); }
  ~SelectWait() override;

  /// Parks the current coroutine until a branch may have become due. Throws what waits throw;
  /// UsageError when two branches wait for the same rendezvous.
  void park(const WaitOptions& options, const SourcePlace& place);
  /// Wakes the coroutine.
  void wake() { notify({}); }

  [[nodiscard]] std::string info() const override;
  void explain_wait(backend::WaitFacts& facts, const CoroutineBase& waiter) const override;

 private:
  friend class SelectPlace;

  void arm() override;
  void disarm() noexcept override;
  void dispose() noexcept override {}
  void require_no_meeting_with_itself() const;

  SelectPlace::List places_;
};

/// Throws the error that `event`, which is closed, has kept for who awaits it; it then counts as
/// caught. Throws UsageError when `event` has kept no outcome.
void take_kept_outcome(Event& event);

}  // namespace fermata::detail
