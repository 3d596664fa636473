// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>

#include "fermata/core/runtime.hpp"

namespace fermata {

/// Whether other threads may come in between the end of a lock's scope and what follows it.
enum class ScopeEnd : std::uint8_t {
  LetsThreadsIn,
  JoinsWhatFollows,  // an operation that is one step with whatever its caller does next
};

/// A lock of what several threads use. In a simulation their order is chosen where it is taken and
/// where it is given back: others may go first. Hold it briefly, and never while a coroutine
/// suspends. `Mutex` is std::mutex, or what can be locked like it.
template <class Mutex>
class ThreadsLock {
 public:
  explicit ThreadsLock(Mutex& mutex, ScopeEnd end = ScopeEnd::LetsThreadsIn) : end_(end) {
    let_threads_in();
    lock_ = std::unique_lock(mutex);
  }
  ThreadsLock(ThreadsLock&&) noexcept = default;
  ThreadsLock& operator=(ThreadsLock&&) = delete;
  ~ThreadsLock() {
    if (!owns_lock()) return;
    lock_.unlock();
    if (end_ == ScopeEnd::LetsThreadsIn) let_threads_in();
  }

  void lock() {
    let_threads_in();
    lock_.lock();
  }
  void unlock() noexcept {
    lock_.unlock();
    let_threads_in();
  }
  [[nodiscard]] bool owns_lock() const noexcept { return lock_.owns_lock(); }

 private:
  static void let_threads_in() noexcept {
    if (Runtime* const here = detail::current_runtime_pointer) here->reactor().let_threads_in();
  }

  std::unique_lock<Mutex> lock_;
  ScopeEnd end_;
};

template <class Mutex>
[[nodiscard]] ThreadsLock<Mutex> lock_among_threads(Mutex& mutex) {
  return ThreadsLock<Mutex>(mutex);
}

}  // namespace fermata
