// SPDX-License-Identifier: Apache-2.0
#pragma once

// Coroutines of several threads that stand in line for something they share.
//
// Lock       Everything here, but for the wait itself, under the lock of what they share.
// Order      First come, first served, by who takes that lock first. One grant wakes one waiter;
//            what it was granted is its own until it takes it or leaves, and then goes to the next.
// Ownership  Waiters live on their coroutines' stacks.

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "fermata/base/intrusive_list.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/wait_facts.hpp"
#include "fermata/io/thread_lock.hpp"
#include "fermata/reactor/trigger.hpp"
#include "fermata/system/mutex.hpp"

namespace fermata::detail {

class ThreadLine {
 public:
  using Lock = ThreadsLock<os::Mutex>;

  enum class Turn : std::uint8_t {
    Granted,
    Failed,  // fail_waiting() or fail_all() has ended the wait
  };

  ThreadLine() = default;
  ThreadLine(const ThreadLine&) = delete;
  ThreadLine& operator=(const ThreadLine&) = delete;

  /// Releases `held`, suspends the caller until its turn, takes `held` again and returns how the
  /// wait ended; the caller is not in line any more. A token or a timeout counts only when the wait
  /// has not ended before. When it throws, `held` is taken as well, and what the caller had been
  /// granted is nobody's.
  /// `subject` says what the wait is for.
  Turn wait(Lock& held, const char* what, const backend::WaitSubject& subject,
            const WaitOptions& options, const SourcePlace& place);

  /// Wakes the oldest that waits. REQUIRES: somebody does.
  void grant() noexcept;
  /// Everybody who waits fails.
  void fail_waiting() noexcept;
  /// Everybody in line fails, including those who were granted their turn and have not run yet.
  void fail_all() noexcept;

  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }
  [[nodiscard]] std::size_t granted() const noexcept { return granted_.size(); }

 private:
  struct Waiter {
    enum class State : std::uint8_t { Waiting, Granted, Failed };
    Link<Waiter> link;
    backend::TriggerHandle* trigger;
    State state = State::Waiting;
  };
  using Line = IntrusiveList<Waiter, &Waiter::link>;

  void leave(Waiter& waiter) noexcept;
  static void fail(Line& line) noexcept;

  Line waiting_;
  Line granted_;
};

}  // namespace fermata::detail
