// SPDX-License-Identifier: Apache-2.0
#pragma once

// At most one coroutine at a time.
//
// Order         First come, first served. unlock() hands the mutex to the oldest waiter: nobody
//               else can take it before that one runs (no barging). When it is cancelled first, the
//               mutex goes to the next.
// Holder        A coroutine. It is not recursive. Unlocking is the holder's alone.
// std           Works with std::lock_guard, std::unique_lock and std::scoped_lock; a Guard knows
//               where it locked, which theirs do not.
// Cost          lock() of a free mutex and unlock() neither suspend nor allocate.

#include <cstdint>
#include <string>
#include <utility>

#include "fermata/sync/primitive.hpp"

namespace fermata {

namespace detail {
struct DebuggerNames;
}

class Mutex final : private detail::Primitive {
 public:
  class Guard;

  explicit Mutex(backend::GivenName name = {}, const SourcePlace& place = SourcePlace::current())
      : Primitive("Mutex", std::move(name), place),
        told_(runtime().kernel().uses != nullptr ? 1 : 0) {}
  ~Mutex() override { retire(&holder_); }

  /// May suspend. Throws Timeout, OperationCancelled, Cancellation: then it is not held. Throws
  /// UsageError when the caller holds it already. A token that has fired takes nothing (EVT-06).
  void lock(const WaitOptions& options = {}, const SourcePlace& place = SourcePlace::current()) {
    const CoroutineBase& me = detail::caller();
    if (free_and_untold() && detail::waits_plainly(options)) [[likely]] {
      holder_.set(me, place);
    } else {
      lock_in_turn(me, options, place);
    }
  }

  /// False when it is held, or promised to somebody. Never suspends.
  [[nodiscard]] bool try_lock(const SourcePlace& place = SourcePlace::current()) {
    const CoroutineBase& me = detail::caller();
    touched();
    if (!is_free()) {
      log_wait(backend::WaitAct::Refused, &place, holder_.id());
      return false;
    }
    holder_.set(me, place);
    return true;
  }

  /// Never suspends. Throws UsageError when the caller does not hold it. While an exception unwinds
  /// the caller that is an unhandled error instead, which ends the run. Who is unwound by force
  /// need not hold it.
  void unlock() {
    const CoroutineBase& me = detail::caller();
    if (!holder_.is(me)) [[unlikely]] {
      return refuse_unlock(me);
    }
    holder_.clear();
    if ((line_.waiting() | told_) != 0) pass_on();
  }

  /// Held, or promised to a waiter that has not run yet.
  [[nodiscard]] bool is_locked() const noexcept {
    touched();
    return !is_free();
  }
  [[nodiscard]] bool is_held_by_caller() const {
    touched();
    return holder_.is(detail::caller());
  }

  /// "Mutex 'ledger' created at bank.cpp:12, held by 'teller' since bank.cpp:31, waiting: 'clerk'"
  [[nodiscard]] std::string info() const override;
  void explain_wait(backend::WaitFacts& facts, const CoroutineBase& waiter) const override;

 private:
  friend struct detail::DebuggerNames;

  [[nodiscard]] bool is_free() const noexcept { return holder_.nobody() && line_.granted() == 0; }
  [[nodiscard]] bool free_and_untold() const noexcept {
    return (holder_.id() | line_.granted() | told_) == 0;
  }
  void pass_on();
  void lock_in_turn(const CoroutineBase& me, const WaitOptions& options, const SourcePlace& place);
  void refuse_unlock(const CoroutineBase& me) const;

  detail::Holder holder_;
  const std::uint64_t told_;  // 1: somebody asks for all uses, and there is no short way.
};

/// Holds a mutex for as long as it lives.
class Mutex::Guard {
 public:
  [[nodiscard]] explicit Guard(Mutex& mutex, const WaitOptions& options = {},
                               const SourcePlace& place = SourcePlace::current())
      : mutex_(mutex) {
    mutex.lock(options, place);
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard() { mutex_.unlock(); }

 private:
  Mutex& mutex_;
};

}  // namespace fermata
