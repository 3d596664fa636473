// SPDX-License-Identifier: Apache-2.0
#pragma once

// Locks among real threads, which go to the C library even where its functions are defined anew for
// code that was not written for Fermata.

#include <pthread.h>

#include <chrono>
#include <ctime>
#include <mutex>

#include "fermata/base/assert.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::os {

/// std::mutex, through os::kernel.
class Mutex {
 public:
  constexpr Mutex() noexcept = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() noexcept { kernel.pthread_mutex_lock(&mutex_); }
  [[nodiscard]] bool try_lock() noexcept { return kernel.pthread_mutex_trylock(&mutex_) == 0; }
  void unlock() noexcept { kernel.pthread_mutex_unlock(&mutex_); }

 private:
  friend class Condition;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

/// std::condition_variable, through os::kernel.
class Condition {
 public:
  constexpr Condition() noexcept = default;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;

  void notify_one() noexcept { kernel.pthread_cond_signal(&condition_); }

  /// Until `done()`. REQUIRES: `lock` is held.
  template <class Done>
  void wait(std::unique_lock<Mutex>& lock, const Done& done) {
    FERMATA_ASSERT(lock.owns_lock());
    while (!done()) kernel.pthread_cond_wait(&condition_, &lock.mutex()->mutex_);
  }

  /// Until `done()`, but at most so long; returns whether it is done. REQUIRES: `lock` is held.
  template <class Done>
  bool wait_for(std::unique_lock<Mutex>& lock, std::chrono::nanoseconds limit, const Done& done) {
    FERMATA_ASSERT(lock.owns_lock());
    constexpr long kBillion = 1'000'000'000;
    timespec end = {};
    kernel.clock_gettime(CLOCK_MONOTONIC, &end);
    const long nanoseconds = end.tv_nsec + limit.count() % kBillion;
    end.tv_sec += limit.count() / kBillion + nanoseconds / kBillion;
    end.tv_nsec = nanoseconds % kBillion;
    while (!done()) {
      if (kernel.pthread_cond_clockwait(&condition_, &lock.mutex()->mutex_, CLOCK_MONOTONIC,
                                        &end) != 0) {
        return done();
      }
    }
    return true;
  }

 private:
  pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;
};

}  // namespace fermata::os
