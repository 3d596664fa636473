// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who stands in line at a primitive, and who has been promised something.
//
// Life of a waiter  It joins at the tail and parks. The primitive grants its turn to
//                   the oldest that still waits: what was granted is reserved for it
//                   until it runs and takes it. A waiter that ends otherwise
//                   (cancelled, timed out) leaves; a grant that it had by then is
//                   forfeited, and the primitive hands it on.
// Order             First come, first served, whoever runs first; one that has to
//                   wait again after a grant keeps its place (POOL-22).
// Ownership         Waiters live on their coroutines' stacks, or in what serves
//                   them.
// Allocation        None.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include "fermata/base/inlining.hpp"
#include "fermata/base/intrusive_list.hpp"
#include "fermata/core/suspend.hpp"

namespace fermata::detail {

class WaitQueue;

/// One place in a line.
class Waiter {
 public:
  /// Joins at the tail, on behalf of the current coroutine, or of another one.
  explicit Waiter(WaitQueue& queue) : Waiter(queue, current_coroutine()) {}
  Waiter(WaitQueue& queue, CoroutineBase& coroutine) : Waiter(queue, &coroutine, nullptr) {}
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  /// Leaves the line.
  ~Waiter() { leave(); }

  /// Suspends until it is granted its turn. `primitive`, which is open, is what reports say that
  /// the coroutine waits for. Throws what the waiter failed with, Cancellation, Timeout,
  /// OperationCancelled; it may have been granted its turn all the same.
  /// Becomes a part of its caller, which includes core/switching.hpp.
  FERMATA_HOT void park(Event& primitive, const WaitOptions& options, const SourcePlace& place) {
    if (state_ == State::Waiting) wait_within(primitive, options, place);
    if (state_ != State::Granted) [[unlikely]] {
      throw_failure();
    }
  }

  /// Whether it holds a grant that it has not taken.
  [[nodiscard]] bool granted() const noexcept { return state_ == State::Granted; }
  /// Whether it waits or holds a grant: the line, and what it belongs to, still know it.
  [[nodiscard]] bool in_line() const noexcept {
    return state_ == State::Waiting || state_ == State::Granted;
  }

  /// Leaves the line; returns whether a grant was left behind.
  bool leave() noexcept {
    const State before = std::exchange(state_, State::Left);
    if (before == State::Waiting || before == State::Granted) step_out(before);
    return before == State::Granted;
  }

 protected:
  /// A waiter that wakes nobody: `serve` is called as soon as it is granted or has failed, when it
  /// has left the line already. With a coroutine it is passed over while that does not wait.
  using Serve = void (*)(Waiter& self, const std::exception_ptr& error);
  Waiter(WaitQueue& queue, Serve serve, CoroutineBase* coroutine = nullptr)
      : Waiter(queue, coroutine, serve) {}

 private:
  friend class WaitQueue;
  enum class State : std::uint8_t { Waiting, Granted, Left, Failed };

  Waiter(WaitQueue& queue, CoroutineBase* coroutine, Serve serve);

  // A coroutine that is on its way back already, cancelled or timed out, will not take anything.
  [[nodiscard]] bool can_be_granted() const noexcept {
    return coroutine_ == nullptr || coroutine_->waker().status == backend::WakerStatus::Waiting;
  }
  void step_out(State before) noexcept;
  void settle(State state, const std::exception_ptr& error);
  [[noreturn]] void throw_failure() const;

  Link<Waiter> link_;
  WaitQueue* queue_;
  CoroutineBase* coroutine_ = nullptr;  // Null only when `serve_` is set.
  Serve serve_ = nullptr;
  std::uint64_t ticket_;
  State state_ = State::Waiting;
  std::exception_ptr error_;  // What it failed with.
};

class WaitQueue {
  using Line = IntrusiveList<Waiter, &Waiter::link_>;

 public:
  WaitQueue() = default;
  WaitQueue(const WaitQueue&) = delete;
  WaitQueue& operator=(const WaitQueue&) = delete;
  ~WaitQueue();

  /// Grants the oldest waiter its turn and wakes it; false when nobody waits who could take it.
  bool grant();
  /// The oldest that could take a grant, or null.
  [[nodiscard]] Waiter* oldest() const noexcept {
    Waiter* each = waiting_.first();
    while (each != nullptr && !each->can_be_granted()) each = Line::after(*each);
    return each;
  }
  [[nodiscard]] bool can_grant() const noexcept { return oldest() != nullptr; }
  /// Whether somebody could take a grant who is not `coroutine`.
  [[nodiscard]] bool can_grant_besides(const CoroutineBase& coroutine) const noexcept {
    Waiter* each = waiting_.first();
    while (each != nullptr && (each->coroutine_ == &coroutine || !each->can_be_granted()))
      each = Line::after(*each);
    return each != nullptr;
  }

  /// Everybody who waits fails with `error`, oldest first; with `granted_too` the promises are
  /// void as well, after the others.
  void fail_all(const std::exception_ptr& error, bool granted_too);

  /// Waiters that have not been granted their turn.
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }
  /// Waiters that have been granted their turn and have not run yet.
  [[nodiscard]] std::size_t granted() const noexcept { return granted_.size(); }
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty() && granted_.empty(); }

  /// Whether this coroutine waits here for its turn.
  [[nodiscard]] bool has(const CoroutineBase& coroutine) const noexcept {
    const Waiter* each = waiting_.first();
    while (each != nullptr && each->coroutine_ != &coroutine) each = Line::after(*each);
    return each != nullptr;
  }
  /// Id of the coroutine that the next grant wakes; 0 when there is none.
  [[nodiscard]] std::uint64_t next_id() const noexcept;

  /// Whether the line is consistent, and in the order of arrival. Visits all waiters.
  [[nodiscard]] bool is_in_order() const noexcept;

  /// ", granted: 'a', waiting: 'b', 'c'", without what does not apply. For people.
  [[nodiscard]] std::string info() const;

 private:
  friend class Waiter;

  [[nodiscard]] Line& line_of(Waiter::State state) noexcept {
    return state == Waiter::State::Granted ? granted_ : waiting_;
  }

  Line waiting_;  // By ticket.
  Line granted_;
  std::uint64_t next_ticket_ = 0;
};

inline Waiter::Waiter(WaitQueue& queue, CoroutineBase* coroutine, Serve serve)
    : queue_(&queue), coroutine_(coroutine), serve_(serve), ticket_(queue.next_ticket_++) {
  queue.waiting_.push_back(*this);
}

inline void Waiter::step_out(State before) noexcept { queue_->line_of(before).remove(*this); }

}  // namespace fermata::detail
