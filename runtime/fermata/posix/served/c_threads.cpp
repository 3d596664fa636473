// SPDX-License-Identifier: Apache-2.0

// Threads of C11, in terms of those of POSIX, whose objects they share.

#include <pthread.h>
#include <sched.h>
#include <threads.h>
#include <time.h>

#include <cerrno>
#include <cstdint>

#include "fermata/base/assert.hpp"
#include "fermata/posix/served/threads_serving.hpp"
#include "fermata/posix/threads.hpp"

using fermata::posix::locks_for;
using fermata::posix::threads_for;

namespace {

pthread_mutex_t* mutex_of(mtx_t* mutex) noexcept {
  FERMATA_ASSERT(mutex != nullptr);
  return reinterpret_cast<pthread_mutex_t*>(mutex);
}
pthread_cond_t* condition_of(cnd_t* condition) noexcept {
  FERMATA_ASSERT(condition != nullptr);
  return reinterpret_cast<pthread_cond_t*>(condition);
}

int result_of(int code) noexcept {
  FERMATA_ASSERT(code >= 0);
  switch (code) {
    case 0:
      return thrd_success;
    case ENOMEM:
      return thrd_nomem;
    case ETIMEDOUT:
      return thrd_timedout;
    case EBUSY:
      return thrd_busy;
    default:
      return thrd_error;
  }
}

/// Whether the C library's own functions are to be called.
bool is_real(const void* from) noexcept { return threads_for(from) == nullptr; }

}  // namespace

extern "C" {

// --- threads; thrd_create() stands with the guard ---

int thrd_join(thrd_t thread, int* result) {
  if (is_real(__builtin_return_address(0))) return FERMATA_REAL(thrd_join)(thread, result);
  void* given = nullptr;
  const int code = pthread_join(thread, &given);
  if (code == 0 && result != nullptr) *result = static_cast<int>(reinterpret_cast<intptr_t>(given));
  return result_of(code);
}

int thrd_detach(thrd_t thread) {
  if (is_real(__builtin_return_address(0))) return FERMATA_REAL(thrd_detach)(thread);
  return result_of(pthread_detach(thread));
}

void thrd_exit(int result) {
  if (is_real(__builtin_return_address(0))) FERMATA_REAL(thrd_exit)(result);
  pthread_exit(reinterpret_cast<void*>(static_cast<intptr_t>(result)));
}

thrd_t thrd_current() { return pthread_self(); }

void thrd_yield() { sched_yield(); }

int thrd_sleep(const timespec* time, timespec* left) {
  if (is_real(__builtin_return_address(0))) return FERMATA_REAL(thrd_sleep)(time, left);
  const int code = clock_nanosleep(CLOCK_REALTIME, 0, time, left);
  if (code == 0) return 0;
  return code == EINTR ? -1 : -2;
}

// --- mutexes and conditions ---

int mtx_lock(mtx_t* mutex) {
  if (is_real(__builtin_return_address(0))) return FERMATA_REAL(mtx_lock)(mutex);
  return result_of(pthread_mutex_lock(mutex_of(mutex)));
}

int mtx_trylock(mtx_t* mutex) {
  if (is_real(__builtin_return_address(0))) return FERMATA_REAL(mtx_trylock)(mutex);
  return result_of(pthread_mutex_trylock(mutex_of(mutex)));
}

int mtx_timedlock(mtx_t* mutex, const timespec* end) {
  if (is_real(__builtin_return_address(0))) return FERMATA_REAL(mtx_timedlock)(mutex, end);
  return result_of(pthread_mutex_timedlock(mutex_of(mutex), end));
}

int mtx_unlock(mtx_t* mutex) {
  if (is_real(__builtin_return_address(0))) return FERMATA_REAL(mtx_unlock)(mutex);
  return result_of(pthread_mutex_unlock(mutex_of(mutex)));
}

void mtx_destroy(mtx_t* mutex) { pthread_mutex_destroy(mutex_of(mutex)); }

int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  if (is_real(__builtin_return_address(0))) return FERMATA_REAL(cnd_wait)(condition, mutex);
  return result_of(pthread_cond_wait(condition_of(condition), mutex_of(mutex)));
}

int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* end) {
  if (is_real(__builtin_return_address(0))) {
    return FERMATA_REAL(cnd_timedwait)(condition, mutex, end);
  }
  return result_of(pthread_cond_timedwait(condition_of(condition), mutex_of(mutex), end));
}

int cnd_signal(cnd_t* condition) {
  if (is_real(__builtin_return_address(0))) return FERMATA_REAL(cnd_signal)(condition);
  return result_of(pthread_cond_signal(condition_of(condition)));
}

int cnd_broadcast(cnd_t* condition) {
  if (is_real(__builtin_return_address(0))) return FERMATA_REAL(cnd_broadcast)(condition);
  return result_of(pthread_cond_broadcast(condition_of(condition)));
}

void cnd_destroy(cnd_t* condition) { pthread_cond_destroy(condition_of(condition)); }

// --- once, and values ---

void call_once(once_flag* flag, void (*routine)()) {
  pthread_once(reinterpret_cast<pthread_once_t*>(flag), routine);
}

int tss_create(tss_t* key, tss_dtor_t destructor) {
  return result_of(pthread_key_create(key, destructor));
}
void tss_delete(tss_t key) { pthread_key_delete(key); }
int tss_set(tss_t key, void* value) { return result_of(pthread_setspecific(key, value)); }
void* tss_get(tss_t key) { return pthread_getspecific(key); }

}  // extern "C"
