// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

namespace fermata::posix {

/// Told of mutexes that a thread locks, some coroutines of which are in scopes of suspending(): one
/// of them may hold what another one is to wait for, and then nobody runs any more.
class LockWatch {
 public:
  /// The thread locks `mutex` next, in the code at `from`. Ends the program with a word on
  /// standard error when another coroutine of the thread holds it.
  virtual void before_lock(const pthread_mutex_t& mutex, const void* from) noexcept = 0;
  virtual void locked(const pthread_mutex_t& mutex) noexcept = 0;
  virtual void before_unlock(const pthread_mutex_t& mutex) noexcept = 0;

 protected:
  ~LockWatch() = default;
};

/// Null while no coroutine of this thread is in a scope.
extern constinit thread_local LockWatch* lock_watch;

}  // namespace fermata::posix
