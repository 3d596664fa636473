// SPDX-License-Identifier: Apache-2.0

// What threads wait for: mutexes, condition variables, locks for readers and writers, spin locks,
// semaphores, barriers. Each is initialised by the C library.

#include <pthread.h>
#include <semaphore.h>

#include <cerrno>

#include "fermata/base/assert.hpp"
#include "fermata/posix/lock_watch.hpp"
#include "fermata/posix/served/threads_serving.hpp"
#include "fermata/posix/threads.hpp"

using fermata::posix::Deadline;
using fermata::posix::is_time;
using fermata::posix::lock_watch;
using fermata::posix::locks_for;
using fermata::posix::Threads;
using fermata::posix::threads_for;

namespace {

/// What functions for semaphores give.
int answer(int code) noexcept {
  FERMATA_ASSERT(code >= 0);
  if (code == 0) return 0;
  errno = code;
  return -1;
}

/// The result of locking `mutex` for real, of which the watch is told.
int told_watch(int code, const pthread_mutex_t& mutex) noexcept {
  if (code == 0 && lock_watch != nullptr) lock_watch->locked(mutex);
  return code;
}

bool is_wait_clock(clockid_t clock) noexcept {
  return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

}  // namespace

// A function that is served by `call` of Threads, if anybody serves it.
#define FERMATA_SERVED(serves, name, parameters, arguments, call)             \
  int name parameters noexcept {                                              \
    Threads* const threads = serves(__builtin_return_address(0));             \
    return threads == nullptr ? FERMATA_REAL(name) arguments : threads->call; \
  }

// One that gives up at a time. What can be had at once, a wrong time does not matter to.
#define FERMATA_SERVED_UNTIL(name, type, object, clock, try_call, call)      \
  int name(type* object, const timespec* end) noexcept {                     \
    Threads* const threads = locks_for(__builtin_return_address(0));         \
    if (threads == nullptr) return FERMATA_REAL(name)(object, end);          \
    if (!is_time(*end)) return threads->try_call(*object) == 0 ? 0 : EINVAL; \
    return threads->call(*object, Deadline{clock, *end});                    \
  }
#define FERMATA_SERVED_UNTIL_CLOCK(name, type, object, try_call, call)       \
  int name(type* object, clockid_t clock, const timespec* end) noexcept {    \
    Threads* const threads = locks_for(__builtin_return_address(0));         \
    if (threads == nullptr) return FERMATA_REAL(name)(object, clock, end);   \
    if (!is_wait_clock(clock)) return EINVAL;                                \
    if (!is_time(*end)) return threads->try_call(*object) == 0 ? 0 : EINVAL; \
    return threads->call(*object, Deadline{clock, *end});                    \
  }

extern "C" {

// --- mutexes ---

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  if (Threads* const threads = locks_for(__builtin_return_address(0))) {
    return threads->lock(*mutex, {});
  }
  if (__builtin_expect(lock_watch == nullptr, 1)) return FERMATA_REAL(pthread_mutex_lock)(mutex);
  lock_watch->before_lock(*mutex, __builtin_return_address(0));
  return told_watch(FERMATA_REAL(pthread_mutex_lock)(mutex), *mutex);
}

int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  if (Threads* const threads = locks_for(__builtin_return_address(0))) {
    return threads->try_lock(*mutex);
  }
  return told_watch(FERMATA_REAL(pthread_mutex_trylock)(mutex), *mutex);
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  if (Threads* const threads = locks_for(__builtin_return_address(0))) {
    return threads->unlock(*mutex);
  }
  if (__builtin_expect(lock_watch != nullptr, 0)) lock_watch->before_unlock(*mutex);
  return FERMATA_REAL(pthread_mutex_unlock)(mutex);
}

FERMATA_SERVED(locks_for, pthread_mutex_destroy, (pthread_mutex_t * mutex), (mutex),
               destroy(*mutex))
FERMATA_SERVED_UNTIL(pthread_mutex_timedlock, pthread_mutex_t, mutex, CLOCK_REALTIME, try_lock,
                     lock)
FERMATA_SERVED_UNTIL_CLOCK(pthread_mutex_clocklock, pthread_mutex_t, mutex, try_lock, lock)

// --- condition variables: those that wait may be left by an exception ---

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  Threads* const threads = threads_for(__builtin_return_address(0));
  return threads == nullptr ? FERMATA_REAL(pthread_cond_wait)(condition, mutex)
                            : threads->wait(*condition, *mutex, {});
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* end) {
  Threads* const threads = threads_for(__builtin_return_address(0));
  if (threads == nullptr) return FERMATA_REAL(pthread_cond_timedwait)(condition, mutex, end);
  if (!is_time(*end)) return EINVAL;
  return threads->wait(*condition, *mutex, Deadline{threads->clock_of(*condition), *end});
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* end) {
  Threads* const threads = threads_for(__builtin_return_address(0));
  if (threads == nullptr) {
    return FERMATA_REAL(pthread_cond_clockwait)(condition, mutex, clock, end);
  }
  if (!is_time(*end) || !is_wait_clock(clock)) return EINVAL;
  return threads->wait(*condition, *mutex, Deadline{clock, *end});
}

FERMATA_SERVED(threads_for, pthread_cond_signal, (pthread_cond_t * condition), (condition),
               signal(*condition, false))
FERMATA_SERVED(threads_for, pthread_cond_broadcast, (pthread_cond_t * condition), (condition),
               signal(*condition, true))
FERMATA_SERVED(threads_for, pthread_cond_destroy, (pthread_cond_t * condition), (condition),
               destroy(*condition))

// --- locks for readers and writers ---

FERMATA_SERVED(locks_for, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock),
               lock_to_read(*lock, {}))
FERMATA_SERVED(locks_for, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock),
               lock_to_write(*lock, {}))
FERMATA_SERVED(locks_for, pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock),
               try_lock_to_read(*lock))
FERMATA_SERVED(locks_for, pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), (lock),
               try_lock_to_write(*lock))
FERMATA_SERVED(locks_for, pthread_rwlock_unlock, (pthread_rwlock_t * lock), (lock), unlock(*lock))
FERMATA_SERVED_UNTIL(pthread_rwlock_timedrdlock, pthread_rwlock_t, lock, CLOCK_REALTIME,
                     try_lock_to_read, lock_to_read)
FERMATA_SERVED_UNTIL(pthread_rwlock_timedwrlock, pthread_rwlock_t, lock, CLOCK_REALTIME,
                     try_lock_to_write, lock_to_write)
FERMATA_SERVED_UNTIL_CLOCK(pthread_rwlock_clockrdlock, pthread_rwlock_t, lock, try_lock_to_read,
                           lock_to_read)
FERMATA_SERVED_UNTIL_CLOCK(pthread_rwlock_clockwrlock, pthread_rwlock_t, lock, try_lock_to_write,
                           lock_to_write)

// --- spin locks ---

FERMATA_SERVED(locks_for, pthread_spin_lock, (pthread_spinlock_t * lock), (lock), lock(*lock))
FERMATA_SERVED(locks_for, pthread_spin_trylock, (pthread_spinlock_t * lock), (lock),
               try_lock(*lock))
FERMATA_SERVED(locks_for, pthread_spin_unlock, (pthread_spinlock_t * lock), (lock), unlock(*lock))

// --- semaphores ---

int sem_wait(sem_t* semaphore) {
  Threads* const threads = threads_for(__builtin_return_address(0));
  return threads == nullptr ? FERMATA_REAL(sem_wait)(semaphore)
                            : answer(threads->wait(*semaphore, {}));
}

int sem_trywait(sem_t* semaphore) noexcept {
  Threads* const threads = threads_for(__builtin_return_address(0));
  return threads == nullptr ? FERMATA_REAL(sem_trywait)(semaphore)
                            : answer(threads->try_wait(*semaphore));
}

int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* end) {
  Threads* const threads = threads_for(__builtin_return_address(0));
  if (threads == nullptr) return FERMATA_REAL(sem_clockwait)(semaphore, clock, end);
  if (!is_wait_clock(clock)) return answer(EINVAL);
  if (!is_time(*end)) return threads->try_wait(*semaphore) == 0 ? 0 : answer(EINVAL);
  return answer(threads->wait(*semaphore, Deadline{clock, *end}));
}

int sem_timedwait(sem_t* semaphore, const timespec* end) {
  Threads* const threads = threads_for(__builtin_return_address(0));
  if (threads == nullptr) return FERMATA_REAL(sem_timedwait)(semaphore, end);
  if (!is_time(*end)) return threads->try_wait(*semaphore) == 0 ? 0 : answer(EINVAL);
  return answer(threads->wait(*semaphore, Deadline{CLOCK_REALTIME, *end}));
}

int sem_post(sem_t* semaphore) noexcept {
  Threads* const threads = threads_for(__builtin_return_address(0));
  return threads == nullptr ? FERMATA_REAL(sem_post)(semaphore) : answer(threads->post(*semaphore));
}

// --- barriers ---

FERMATA_SERVED(locks_for, pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier),
               wait(*barrier))
FERMATA_SERVED(locks_for, pthread_barrier_destroy, (pthread_barrier_t * barrier), (barrier),
               destroy(*barrier))

}  // extern "C"
