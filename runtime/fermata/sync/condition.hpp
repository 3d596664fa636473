// SPDX-License-Identifier: Apache-2.0
#pragma once

// Waiting until something that a mutex guards has changed.
//
// Atomic        Nothing runs between the unlock of the mutex and the wait: a notify cannot be
//               missed.
// Order         notify_one() wakes who has waited longest. A notify given to a waiter whose wait
//               ends otherwise, cancelled or timed out before it has the mutex again, goes to the
//               next waiter.
// Mutex         Held again at the end of wait(), whatever the end: it is locked again with
//               cancellation deferred. Only at the end of a run, when protection does not help any
//               more (a deadlock, a forced end), wait() may throw without it; a std::unique_lock
//               then owns nothing.
// Spurious      None, but the state may have changed again: wait with a predicate.

#include <concepts>
#include <string>
#include <utility>

#include "fermata/sync/mutex.hpp"
#include "fermata/sync/primitive.hpp"

namespace fermata {

class Condition final : private detail::Primitive {
 public:
  explicit Condition(backend::GivenName name = {},
                     const SourcePlace& place = SourcePlace::current())
      : Primitive("Condition", std::move(name), place) {}
  ~Condition() override { retire(); }

  /// Unlocks `mutex`, suspends until it is notified, locks again. Throws Timeout,
  /// OperationCancelled, Cancellation; a zero timeout never unlocks. UsageError when the caller
  /// does not hold `mutex`.
  void wait(Mutex& mutex, const WaitOptions& options = {},
            const SourcePlace& place = SourcePlace::current());

  /// Waits until `predicate` holds, which is evaluated with the mutex held, for the last time at
  /// the timeout.
  template <std::predicate Predicate>
  void wait(Mutex& mutex, Predicate predicate, const WaitOptions& options = {},
            const SourcePlace& place = SourcePlace::current()) {
    const detail::Deadline deadline(options);
    detail::check_token(options);
    bool woken = false;
    while (!predicate()) {
      if (std::exchange(woken, true)) log_wait(backend::WaitAct::Refused, &place);
      try {
        wait(mutex, deadline.remaining(), place);
      } catch (const Timeout&) {
        if (predicate()) return;
        deadline.throw_timeout();
      }
    }
    if (woken) log_wait(backend::WaitAct::Took, &place);
  }

  /// Waits with a `std::unique_lock` or the like, which must own its mutex.
  template <class Lock>
  requires(std::same_as<typename Lock::mutex_type, Mutex>) void wait(
      Lock& lock, const WaitOptions& options = {},
      const SourcePlace& place = SourcePlace::current()) {
    with(lock, [&](Mutex& mutex) { wait(mutex, options, place); });
  }
  template <class Lock, std::predicate Predicate>
  requires(std::same_as<typename Lock::mutex_type, Mutex>) void wait(
      Lock& lock, Predicate predicate, const WaitOptions& options = {},
      const SourcePlace& place = SourcePlace::current()) {
    with(lock, [&](Mutex& mutex) { wait(mutex, std::move(predicate), options, place); });
  }

  /// Wakes one waiter. The caller need not hold the mutex. Never suspends.
  void notify_one(const SourcePlace& place = SourcePlace::current()) {
    touched();
    log_notify(place);
    line_.grant();
  }
  void notify_all(const SourcePlace& place = SourcePlace::current()) {
    touched();
    log_notify(place);
    while (line_.grant()) {
    }
  }

  /// "Condition 'not empty' created at queue.cpp:9, waiting: 'reader'"
  [[nodiscard]] std::string info() const override;

 private:
  void log_notify(const SourcePlace& place) const {
    if (runtime().kernel().wait_log == nullptr) [[likely]] {
      return;
    }
    log_wait(backend::WaitAct::Notified, &place, line_.next_id());
  }
  template <class Lock, class Wait>
  static void with(Lock& lock, Wait wait) {
    FERMATA_REQUIRE(lock.owns_lock(), "a condition waits with a lock that owns its mutex");
    Mutex& mutex = *lock.mutex();
    try {
      wait(mutex);
    } catch (...) {
      if (!mutex.is_held_by_caller()) lock.release();
      throw;
    }
  }
  static std::exception_ptr lock_again(Mutex& mutex, const SourcePlace& place);
};

}  // namespace fermata
