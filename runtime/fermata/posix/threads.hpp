// SPDX-License-Identifier: Apache-2.0
#pragma once

// Threads as code sees them that was not written for Fermata, and what they wait for: mutexes,
// condition variables, semaphores. A kernel that has an answer to them serves them; else they are
// the C library's.
//
// Objects     Those of the C library, which are initialised by it. What their state is stands in
//             them, so that zero is free.
// Results     0 or an errno value, as functions of pthread.h give it.
// Waiting     What may suspend says so. A thread that is to end leaves its foreign code by an
//             exception, in the calls that may: those that are cancellation points in POSIX.

#include <pthread.h>
#include <semaphore.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <utility>

namespace fermata::posix {

/// When a call gives up with ETIMEDOUT, by a clock; without one it waits forever.
struct Deadline {
  clockid_t clock = CLOCK_REALTIME;
  timespec time = {};
};
using Until = std::optional<Deadline>;

class Threads {
 public:
  // --- threads ---

  /// A call begins, or ends: others may run first, handlers of signals run, and who has been
  /// cancelled and lets that be done at once ends here. May suspend.
  virtual void begin_call(const char* call) = 0;
  /// Suspends, as the new thread may run first.
  virtual int create(pthread_t& thread, const pthread_attr_t* attributes, void* (*start)(void*),
                     void* argument) = 0;
  /// May suspend, and may throw. `result` may be null.
  virtual int join(pthread_t thread, void** result, const Until& until) = 0;
  /// EBUSY while it runs.
  virtual int try_join(pthread_t thread, void** result) = 0;
  virtual int detach(pthread_t thread) = 0;
  /// Throws.
  [[noreturn]] virtual void exit(void* result) = 0;
  /// Throws when the thread is to end.
  virtual void test_cancel() = 0;
  /// The thread ends in its next call that may throw, or in the one in which it waits.
  virtual int cancel(pthread_t thread) = 0;
  /// Whether cancel() has an effect on the current thread yet; returns whether it had before.
  virtual bool let_cancel(bool value) = 0;
  /// Whether the current thread, cancelled, ends in any call (PTHREAD_CANCEL_ASYNCHRONOUS), also in
  /// one that may not throw: then its stack is dropped. Returns whether it did before.
  virtual bool let_cancel_at_once(bool value) = 0;
  /// The current thread's handlers for its end, in the C library's form; the last one first.
  virtual void add_cleanup(__pthread_unwind_buf_t& handler) = 0;
  virtual void remove_cleanup() = 0;
  /// The last handler has run; goes on to the one before it, or throws.
  [[noreturn]] virtual void clean_up_further() = 0;
  virtual pthread_t self() = 0;
  /// What gettid() gives: in the main coroutine of a program it is the number of the process.
  virtual pid_t number() = 0;
  /// Whether there is such a thread, which may have ended.
  virtual bool knows(pthread_t thread) = 0;
  virtual void set_name(pthread_t thread, const char* name) = 0;
  virtual std::string name_of(pthread_t thread) = 0;
  /// Policy and priority, which are kept and have no effect.
  struct Scheduling {
    int policy = 0;  // SCHED_OTHER
    int priority = 0;
  };
  virtual Scheduling& scheduling_of(pthread_t thread) = 0;
  /// The stack of a thread; null, and no size, when it is not known.
  virtual std::pair<void*, std::size_t> stack_of(pthread_t thread) = 0;

  // --- mutexes ---

  /// May suspend.
  virtual int lock(pthread_mutex_t& mutex, const Until& until) = 0;
  virtual int try_lock(pthread_mutex_t& mutex) = 0;
  /// Suspends, as others may run first.
  virtual int unlock(pthread_mutex_t& mutex) = 0;
  virtual int destroy(pthread_mutex_t& mutex) = 0;

  // --- condition variables ---

  /// May suspend, and may throw.
  virtual int wait(pthread_cond_t& condition, pthread_mutex_t& mutex, const Until& until) = 0;
  /// Suspends, as others may run first.
  virtual int signal(pthread_cond_t& condition, bool all) = 0;
  virtual int destroy(pthread_cond_t& condition) = 0;
  /// Which one the deadlines of pthread_cond_timedwait() are by.
  [[nodiscard]] virtual clockid_t clock_of(const pthread_cond_t& condition) noexcept = 0;

  // --- locks for readers and writers ---

  /// May suspend.
  virtual int lock_to_read(pthread_rwlock_t& lock, const Until& until) = 0;
  virtual int lock_to_write(pthread_rwlock_t& lock, const Until& until) = 0;
  virtual int try_lock_to_read(pthread_rwlock_t& lock) = 0;
  virtual int try_lock_to_write(pthread_rwlock_t& lock) = 0;
  virtual int unlock(pthread_rwlock_t& lock) = 0;

  // --- spin locks ---

  /// May suspend.
  virtual int lock(pthread_spinlock_t& lock) = 0;
  virtual int try_lock(pthread_spinlock_t& lock) = 0;
  virtual int unlock(pthread_spinlock_t& lock) = 0;

  // --- semaphores ---

  /// May suspend, and may throw. EINTR when the coroutine is cancelled.
  virtual int wait(sem_t& semaphore, const Until& until) = 0;
  /// EAGAIN when it is zero.
  virtual int try_wait(sem_t& semaphore) = 0;
  virtual int post(sem_t& semaphore) = 0;

  // --- barriers ---

  /// May suspend. PTHREAD_BARRIER_SERIAL_THREAD for one of those who pass.
  virtual int wait(pthread_barrier_t& barrier) = 0;
  virtual int destroy(pthread_barrier_t& barrier) = 0;

  // --- once, and values of threads ---

  /// May suspend. Lets out what `routine` throws: then it has not run.
  virtual int once(pthread_once_t& control, void (*routine)()) = 0;
  virtual int create_key(pthread_key_t& key, void (*destructor)(void*)) = 0;
  /// EINVAL for a key that is not one of theirs.
  virtual int delete_key(pthread_key_t key) = 0;
  virtual int set(pthread_key_t key, const void* value) = 0;
  virtual void* get(pthread_key_t key) = 0;
  /// Whether a key was made by create_key(), and not by the C library.
  [[nodiscard]] static constexpr bool is_own_key(pthread_key_t key) noexcept {
    return key >= kFirstKey;
  }

  // --- futex(2) ---

  /// Until it is woken, if `*word` is `expected`: 0, EAGAIN, ETIMEDOUT or EINTR. May suspend.
  virtual int wait(const std::uint32_t* word, std::uint32_t expected, std::uint32_t bits,
                   const Until& until) = 0;
  /// Returns how many it has woken, at most `most`.
  virtual int wake(const std::uint32_t* word, int most, std::uint32_t bits) = 0;

 protected:
  /// Behind all keys of the C library.
  static constexpr pthread_key_t kFirstKey = 1u << 16;

  Threads() = default;
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() = default;
};

}  // namespace fermata::posix
