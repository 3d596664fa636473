// SPDX-License-Identifier: Apache-2.0

// Threads: their beginning and end, what they are called, what is theirs alone.

#include "fermata/posix/threads.hpp"

#include <pthread.h>
#include <sched.h>
#include <threads.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "fermata/base/assert.hpp"
#include "fermata/posix/served/threads_serving.hpp"

using fermata::posix::Deadline;
using fermata::posix::is_time;
using fermata::posix::locks_for;
using fermata::posix::Threads;
using fermata::posix::threads_for;

namespace {

constexpr size_t kLongestName = 15;

/// ESRCH for a thread that there is not.
int refuse_unknown(Threads& threads, pthread_t thread) noexcept {
  return threads.knows(thread) ? 0 : ESRCH;
}

}  // namespace

extern "C" {

// --- the end of a thread ---

int pthread_join(pthread_t thread, void** result) {
  Threads* const threads = threads_for(__builtin_return_address(0));
  return threads == nullptr ? FERMATA_REAL(pthread_join)(thread, result)
                            : threads->join(thread, result, {});
}

int pthread_tryjoin_np(pthread_t thread, void** result) noexcept {
  Threads* const threads = threads_for(__builtin_return_address(0));
  return threads == nullptr ? FERMATA_REAL(pthread_tryjoin_np)(thread, result)
                            : threads->try_join(thread, result);
}

int pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock, const timespec* end) {
  Threads* const threads = threads_for(__builtin_return_address(0));
  if (threads == nullptr) return FERMATA_REAL(pthread_clockjoin_np)(thread, result, clock, end);
  return is_time(*end) ? threads->join(thread, result, Deadline{clock, *end}) : EINVAL;
}

int pthread_timedjoin_np(pthread_t thread, void** result, const timespec* end) {
  Threads* const threads = threads_for(__builtin_return_address(0));
  if (threads == nullptr) return FERMATA_REAL(pthread_timedjoin_np)(thread, result, end);
  if (end == nullptr) return threads->join(thread, result, {});
  return is_time(*end) ? threads->join(thread, result, Deadline{CLOCK_REALTIME, *end}) : EINVAL;
}

int pthread_detach(pthread_t thread) noexcept {
  Threads* const threads = threads_for(__builtin_return_address(0));
  return threads == nullptr ? FERMATA_REAL(pthread_detach)(thread) : threads->detach(thread);
}

void pthread_exit(void* result) {
  if (Threads* const threads = threads_for(__builtin_return_address(0))) threads->exit(result);
  FERMATA_REAL(pthread_exit)(result);
  __builtin_unreachable();
}

void pthread_testcancel() {
  Threads* const threads = threads_for(__builtin_return_address(0));
  return threads == nullptr ? FERMATA_REAL(pthread_testcancel)() : threads->test_cancel();
}

int pthread_cancel(pthread_t thread) {
  Threads* const threads = threads_for(__builtin_return_address(0));
  if (threads == nullptr) return FERMATA_REAL(pthread_cancel)(thread);
  FERMATA_ASSERT(fermata::posix::serving != nullptr);
  fermata::posix::serving->refuse("pthread_cancel", __builtin_return_address(0));
  return ENOSYS;
}

// --- who it is ---

pthread_t pthread_self() noexcept {
  Threads* const threads = locks_for(__builtin_return_address(0));
  return threads == nullptr ? FERMATA_REAL(pthread_self)() : threads->self();
}

int pthread_setname_np(pthread_t thread, const char* name) noexcept {
  Threads* const threads = threads_for(__builtin_return_address(0));
  if (threads == nullptr) return FERMATA_REAL(pthread_setname_np)(thread, name);
  if (std::strlen(name) > kLongestName) return ERANGE;
  if (const int code = refuse_unknown(*threads, thread)) return code;
  threads->set_name(thread, name);
  return 0;
}

int pthread_getname_np(pthread_t thread, char* buffer, size_t size) noexcept {
  Threads* const threads = threads_for(__builtin_return_address(0));
  if (threads == nullptr) return FERMATA_REAL(pthread_getname_np)(thread, buffer, size);
  if (size <= kLongestName) return ERANGE;
  if (const int code = refuse_unknown(*threads, thread)) return code;
  const std::string name = threads->name_of(thread).substr(0, kLongestName);
  FERMATA_ASSERT(name.size() < size);
  std::memcpy(buffer, name.c_str(), name.size() + 1);
  return 0;
}

int pthread_kill(pthread_t thread, int signal) noexcept {
  Threads* const threads = threads_for(__builtin_return_address(0));
  if (threads == nullptr) return FERMATA_REAL(pthread_kill)(thread, signal);
  if (const int code = refuse_unknown(*threads, thread)) return code;
  if (signal == 0) return 0;
  if (signal < 0 || signal >= NSIG) return EINVAL;
  FERMATA_ASSERT(fermata::posix::serving != nullptr);
  fermata::posix::serving->refuse("pthread_kill", __builtin_return_address(0));
  return ENOSYS;
}

// --- how it is scheduled: as usual, and nothing else ---

int pthread_getschedparam(pthread_t thread, int* policy, sched_param* parameters) noexcept {
  Threads* const threads = threads_for(__builtin_return_address(0));
  if (threads == nullptr) return FERMATA_REAL(pthread_getschedparam)(thread, policy, parameters);
  if (const int code = refuse_unknown(*threads, thread)) return code;
  *policy = SCHED_OTHER;
  parameters->sched_priority = 0;
  return 0;
}

int pthread_setschedparam(pthread_t thread, int policy, const sched_param* parameters) noexcept {
  Threads* const threads = threads_for(__builtin_return_address(0));
  if (threads == nullptr) return FERMATA_REAL(pthread_setschedparam)(thread, policy, parameters);
  if (const int code = refuse_unknown(*threads, thread)) return code;
  if (policy != SCHED_OTHER && policy != SCHED_FIFO && policy != SCHED_RR) return EINVAL;
  if (policy != SCHED_OTHER) return EPERM;
  return parameters->sched_priority == 0 ? 0 : EINVAL;
}

int pthread_setschedprio(pthread_t thread, int priority) noexcept {
  Threads* const threads = threads_for(__builtin_return_address(0));
  if (threads == nullptr) return FERMATA_REAL(pthread_setschedprio)(thread, priority);
  if (const int code = refuse_unknown(*threads, thread)) return code;
  return priority == 0 ? 0 : EINVAL;
}

int pthread_getcpuclockid(pthread_t thread, clockid_t* clock) noexcept {
  Threads* const threads = threads_for(__builtin_return_address(0));
  if (threads == nullptr) return FERMATA_REAL(pthread_getcpuclockid)(thread, clock);
  if (const int code = refuse_unknown(*threads, thread)) return code;
  *clock = CLOCK_THREAD_CPUTIME_ID;
  return 0;
}

// --- values ---

int pthread_once(pthread_once_t* control, void (*routine)()) {
  Threads* const threads = locks_for(__builtin_return_address(0));
  return threads == nullptr ? FERMATA_REAL(pthread_once)(control, routine)
                            : threads->once(*control, routine);
}

int pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) noexcept {
  Threads* const threads = locks_for(__builtin_return_address(0));
  return threads == nullptr ? FERMATA_REAL(pthread_key_create)(key, destructor)
                            : threads->create_key(*key, destructor);
}

// A key from before the simulation is the C library's.

int pthread_key_delete(pthread_key_t key) noexcept {
  Threads* const threads = locks_for(__builtin_return_address(0));
  const bool is_served = threads != nullptr && Threads::is_own_key(key);
  return is_served ? threads->delete_key(key) : FERMATA_REAL(pthread_key_delete)(key);
}

int pthread_setspecific(pthread_key_t key, const void* value) noexcept {
  Threads* const threads = locks_for(__builtin_return_address(0));
  const bool is_served = threads != nullptr && Threads::is_own_key(key);
  return is_served ? threads->set(key, value) : FERMATA_REAL(pthread_setspecific)(key, value);
}

void* pthread_getspecific(pthread_key_t key) noexcept {
  Threads* const threads = locks_for(__builtin_return_address(0));
  const bool is_served = threads != nullptr && Threads::is_own_key(key);
  return is_served ? threads->get(key) : FERMATA_REAL(pthread_getspecific)(key);
}

}  // extern "C"
