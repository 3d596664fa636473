// SPDX-License-Identifier: Apache-2.0

// Threads: their beginning and end, what they are called, what is theirs alone.

#include "fermata/posix/threads.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <threads.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <string>

#include "fermata/base/assert.hpp"
#include "fermata/posix/served/threads_serving.hpp"
#include "fermata/posix/served/told_by_caller.hpp"

using fermata::posix::Deadline;
using fermata::posix::is_time;
using fermata::posix::locks_for;
using fermata::posix::Threads;
using fermata::posix::threads_for;

namespace {

constexpr size_t kLongestName = 15;

/// `call` begins: ESRCH for a thread that there is not.
int begin_with(const char* call, Threads& threads, pthread_t thread) noexcept {
  FERMATA_ASSERT(fermata::posix::serving != nullptr);
  threads.begin_call(call);
  return threads.knows(thread) ? 0 : ESRCH;
}

bool is_priority(int policy, int priority) noexcept {
  const int least = sched_get_priority_min(policy);
  return least >= 0 && priority >= least && priority <= sched_get_priority_max(policy);
}

}  // namespace

extern "C" {

// Without a declaration in C++.
void __pthread_register_cancel(__pthread_unwind_buf_t* handler);
void __pthread_unregister_cancel(__pthread_unwind_buf_t* handler);
[[noreturn]] void __pthread_unwind_next(__pthread_unwind_buf_t* handler);

// What pthread_atfork() is made of. Nothing forks, so that nobody would call the handlers.
int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(), void* library);

int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(), void* library) {
  const bool is_served = fermata::posix::machine_for(__builtin_return_address(0)) != nullptr;
  Threads* const threads = is_served ? fermata::posix::serving->threads() : nullptr;
  if (threads == nullptr) return FERMATA_REAL(__register_atfork)(prepare, parent, child, library);
  threads->begin_call("pthread_atfork");
  return 0;
}

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
  return threads == nullptr ? FERMATA_REAL(pthread_cancel)(thread) : threads->cancel(thread);
}

int pthread_setcancelstate(int state, int* before) {
  Threads* const threads = threads_for(__builtin_return_address(0));
  if (threads == nullptr) return FERMATA_REAL(pthread_setcancelstate)(state, before);
  if (state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE) return EINVAL;
  const bool was = threads->let_cancel(state == PTHREAD_CANCEL_ENABLE);
  if (before != nullptr) *before = was ? PTHREAD_CANCEL_ENABLE : PTHREAD_CANCEL_DISABLE;
  return 0;
}

// Between calls nothing is cancelled, whatever the type.
int pthread_setcanceltype(int type, int* before) {
  Threads* const threads = threads_for(__builtin_return_address(0));
  if (threads == nullptr) return FERMATA_REAL(pthread_setcanceltype)(type, before);
  if (type != PTHREAD_CANCEL_DEFERRED && type != PTHREAD_CANCEL_ASYNCHRONOUS) return EINVAL;
  const bool was = threads->let_cancel_at_once(type == PTHREAD_CANCEL_ASYNCHRONOUS);
  if (before != nullptr) *before = was ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED;
  return 0;
}

// What pthread_cleanup_push() and pthread_cleanup_pop() are made of, in C.

void __pthread_register_cancel(__pthread_unwind_buf_t* handler) {
  Threads* const threads = threads_for(__builtin_return_address(0));
  return threads == nullptr ? FERMATA_REAL(__pthread_register_cancel)(handler)
                            : threads->add_cleanup(*handler);
}

void __pthread_unregister_cancel(__pthread_unwind_buf_t* handler) {
  Threads* const threads = threads_for(__builtin_return_address(0));
  return threads == nullptr ? FERMATA_REAL(__pthread_unregister_cancel)(handler)
                            : threads->remove_cleanup();
}

void __pthread_unwind_next(__pthread_unwind_buf_t* handler) {
  if (Threads* const threads = threads_for(__builtin_return_address(0))) {
    threads->clean_up_further();
  }
  FERMATA_REAL(__pthread_unwind_next)(handler);
  __builtin_unreachable();
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
  if (const int code = begin_with("pthread_setname_np", *threads, thread)) return code;
  threads->set_name(thread, name);
  return 0;
}

int pthread_getname_np(pthread_t thread, char* buffer, size_t size) noexcept {
  Threads* const threads = threads_for(__builtin_return_address(0));
  if (threads == nullptr) return FERMATA_REAL(pthread_getname_np)(thread, buffer, size);
  if (size <= kLongestName) return ERANGE;
  if (const int code = begin_with("pthread_getname_np", *threads, thread)) return code;
  const std::string name = threads->name_of(thread).substr(0, kLongestName);
  FERMATA_ASSERT(name.size() < size);
  std::memcpy(buffer, name.c_str(), name.size() + 1);
  return 0;
}

// Its name is all that is known here.
int prctl(int option, ...) {
  std::va_list rest;
  va_start(rest, option);
  std::array<unsigned long, 4> given{};
  for (unsigned long& each : given) each = va_arg(rest, unsigned long);
  va_end(rest);
  const bool is_served = fermata::posix::machine_for(__builtin_return_address(0)) != nullptr;
  Threads* const threads = is_served ? fermata::posix::serving->threads() : nullptr;
  if (threads == nullptr) {
    return FERMATA_REAL(prctl)(option, given[0], given[1], given[2], given[3]);
  }
  constexpr std::size_t kRoom = kLongestName + 1;
  FERMATA_ASSERT(threads->knows(threads->self()));
  auto* const name = reinterpret_cast<char*>(given[0]);
  switch (option) {
    case PR_SET_NAME:
      threads->set_name(threads->self(), std::string(name, ::strnlen(name, kLongestName)).c_str());
      return 0;
    case PR_GET_NAME:
      std::memset(name, 0, kRoom);
      threads->name_of(threads->self()).copy(name, kLongestName);
      return 0;
    default:
      errno = EINVAL;
      return -1;
  }
}

// --- how it is scheduled, which has no effect ---

int pthread_getschedparam(pthread_t thread, int* policy, sched_param* parameters) noexcept {
  Threads* const threads = threads_for(__builtin_return_address(0));
  if (threads == nullptr) return FERMATA_REAL(pthread_getschedparam)(thread, policy, parameters);
  if (const int code = begin_with("pthread_getschedparam", *threads, thread)) return code;
  const Threads::Scheduling& kept = threads->scheduling_of(thread);
  FERMATA_ASSERT(is_priority(kept.policy, kept.priority));
  *policy = kept.policy;
  parameters->sched_priority = kept.priority;
  return 0;
}

int pthread_setschedparam(pthread_t thread, int policy, const sched_param* parameters) noexcept {
  Threads* const threads = threads_for(__builtin_return_address(0));
  if (threads == nullptr) return FERMATA_REAL(pthread_setschedparam)(thread, policy, parameters);
  if (const int code = begin_with("pthread_setschedparam", *threads, thread)) return code;
  if (!is_priority(policy, parameters->sched_priority)) return EINVAL;
  threads->scheduling_of(thread) = {policy, parameters->sched_priority};
  return 0;
}

int pthread_setschedprio(pthread_t thread, int priority) noexcept {
  Threads* const threads = threads_for(__builtin_return_address(0));
  if (threads == nullptr) return FERMATA_REAL(pthread_setschedprio)(thread, priority);
  if (const int code = begin_with("pthread_setschedprio", *threads, thread)) return code;
  Threads::Scheduling& kept = threads->scheduling_of(thread);
  FERMATA_ASSERT(is_priority(kept.policy, kept.priority));
  if (!is_priority(kept.policy, priority)) return EINVAL;
  kept.priority = priority;
  return 0;
}

int pthread_getattr_np(pthread_t thread, pthread_attr_t* attributes) noexcept {
  Threads* const threads = locks_for(__builtin_return_address(0));
  if (threads == nullptr) return FERMATA_REAL(pthread_getattr_np)(thread, attributes);
  if (const int code = begin_with("pthread_getattr_np", *threads, thread)) return code;
  pthread_attr_init(attributes);
  const auto [stack, size] = threads->stack_of(thread);
  return stack == nullptr ? 0 : pthread_attr_setstack(attributes, stack, size);
}

int pthread_getcpuclockid(pthread_t thread, clockid_t* clock) noexcept {
  Threads* const threads = threads_for(__builtin_return_address(0));
  if (threads == nullptr) return FERMATA_REAL(pthread_getcpuclockid)(thread, clock);
  if (const int code = begin_with("pthread_getcpuclockid", *threads, thread)) return code;
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
