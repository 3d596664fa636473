// SPDX-License-Identifier: Apache-2.0

// The guarded functions: each is served by the kernel of foreign code, where there is one; else it
// reports who is simulated and then does what it always did. What
// stands in the program itself comes before what the libraries have, so that calls from libraries
// come here too; sanitizers that have a version of their own keep it.

#include "fermata/sim/guard/guarded_functions.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "fermata/base/assert.hpp"
#include "fermata/posix/foreign_code.hpp"
#include "fermata/posix/kernel.hpp"
#include "fermata/posix/real_function.hpp"
#include "fermata/posix/threads.hpp"
#include "fermata/sim/guard/guard.hpp"
#include "fermata/sim/guard/thrown_errors.hpp"

using fermata::posix::Kernel;
using fermata::posix::serving;
using fermata::posix::serving_machine;
using fermata::posix::Threads;
using fermata::sim::detail::is_guarded;
using fermata::sim::detail::report_guarded;

namespace {

template <class Function>
using Real = fermata::posix::RealFunction<Function>;

constinit Real<std::uint32_t()> real_arc4random("arc4random");
constinit Real<clock_t()> real_clock("clock");
constinit Real<int(clockid_t, timespec*)> real_clock_gettime("clock_gettime");
constinit Real<int(clockid_t, int, const timespec*, timespec*)> real_clock_nanosleep(
    "clock_nanosleep");
constinit Real<void(int)> real_exit("exit");
constinit Real<void(int)> real_exit_at_once("_exit");
constinit Real<pid_t()> real_fork("fork");
constinit Real<int(void*, size_t)> real_getentropy("getentropy");
constinit Real<ssize_t(void*, size_t, unsigned)> real_getrandom("getrandom");
constinit Real<int(timeval*, void*)> real_gettimeofday("gettimeofday");
constinit Real<int(const timespec*, timespec*)> real_nanosleep("nanosleep");
constinit Real<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)> real_pthread_create(
    "pthread_create");
constinit Real<int()> real_sched_yield("sched_yield");
constinit Real<unsigned(unsigned)> real_sleep("sleep");
constinit Real<int(thrd_t*, thrd_start_t, void*)> real_thrd_create("thrd_create");
constinit Real<time_t(time_t*)> real_time("time");
constinit Real<int(timespec*, int)> real_timespec_get("timespec_get");
constinit Real<int(useconds_t)> real_usleep("usleep");
constinit Real<unsigned(void*)> real_random_device("_ZNSt13random_device9_M_getvalEv");

std::atomic<void (*)(const void* caller) noexcept> exit_listener = nullptr;

[[noreturn]] void leave(const char* name, Real<void(int)>& real, int code, const void* caller) {
  if (serving_machine() != nullptr && fermata::posix::is_foreign_code(caller)) {
    serving_machine()->abort(fmt::format("{}({})", name, code));
  }
  if (const auto listener = exit_listener.load()) listener(caller);
  // What runs at the end, such as a search for leaks that holds malloc's lock, is not simulated.
  const fermata::sim::AllowNondeterminism allowed;
  real.get()(code);
  __builtin_unreachable();
}

int answer(int result) noexcept {
  if (result >= 0) return result;
  errno = -result;
  return -1;
}

/// Whether a call is served that may wait; then its place is noted.
bool may_wait(const void* from) noexcept {
  fermata::posix::caller = from;
  return serving != nullptr;
}

timespec served_wall_clock() noexcept {
  FERMATA_ASSERT(serving_machine() != nullptr);
  timespec now = {};
  static_cast<void>(serving_machine()->clock_gettime(CLOCK_REALTIME, now));
  return now;
}

std::uint32_t served_number() noexcept {
  FERMATA_ASSERT(serving_machine() != nullptr);
  std::uint32_t number = 0;
  serving_machine()->fill_randomly(std::as_writable_bytes(std::span(&number, 1)));
  return number;
}

/// Who serves threads; null: nobody.
Threads* threads_serving() noexcept { return serving == nullptr ? nullptr : serving->threads(); }

/// What a thread of C11 runs.
struct StartOfC {
  thrd_start_t start;
  void* argument;

  static void* run(void* self) {
    FERMATA_ASSERT(self != nullptr);
    const StartOfC begun = *std::unique_ptr<StartOfC>(static_cast<StartOfC*>(self));
    return reinterpret_cast<void*>(static_cast<std::intptr_t>(begun.start(begun.argument)));
  }
};

/// Whether `name`, called now, is to have its effect.
bool may(const char* name) { return !is_guarded() || report_guarded(name); }

}  // namespace

namespace fermata::sim::detail {

void find_guarded_functions() noexcept {
  real_arc4random.find();
  real_clock.find();
  real_clock_gettime.find();
  real_clock_nanosleep.find();
  real_exit.find();
  real_exit_at_once.find();
  real_fork.find();
  real_getentropy.find();
  real_getrandom.find();
  real_gettimeofday.find();
  real_nanosleep.find();
  real_pthread_create.find();
  real_sched_yield.find();
  real_sleep.find();
  real_thrd_create.find();
  real_time.find();
  real_timespec_get.find();
  real_usleep.find();
  real_random_device.find();
  find_throw_functions();
}

void listen_to_exits(void (*listener)(const void* caller) noexcept) noexcept {
  exit_listener.store(listener);
}

}  // namespace fermata::sim::detail

extern "C" {

// Clang's sanitizers have theirs in the program as well, under this name.
[[gnu::weak]] int __interceptor_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*),
                                               void*);

// --- time: a run that has failed may as well know it ---

clock_t clock() noexcept {
  if (serving_machine() != nullptr) {
    timespec used = {};
    static_cast<void>(serving_machine()->clock_gettime(CLOCK_PROCESS_CPUTIME_ID, used));
    return used.tv_sec * CLOCKS_PER_SEC + used.tv_nsec / (1'000'000'000 / CLOCKS_PER_SEC);
  }
  static_cast<void>(may("clock"));
  return real_clock.get()();
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (serving_machine() != nullptr) return answer(serving_machine()->clock_gettime(clock, *time));
  static_cast<void>(may("clock_gettime"));
  return real_clock_gettime.get()(clock, time);
}

int gettimeofday(timeval* __restrict time, void* __restrict zone) noexcept {
  if (serving_machine() != nullptr) {
    const timespec now = served_wall_clock();
    *time = {.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return 0;
  }
  static_cast<void>(may("gettimeofday"));
  return real_gettimeofday.get()(time, zone);
}

time_t time(time_t* time) noexcept {
  if (serving_machine() != nullptr) {
    const time_t now = served_wall_clock().tv_sec;
    if (time != nullptr) *time = now;
    return now;
  }
  static_cast<void>(may("time"));
  return real_time.get()(time);
}

int timespec_get(timespec* time, int base) noexcept {
  if (serving_machine() != nullptr && base == TIME_UTC) {
    *time = served_wall_clock();
    return base;
  }
  static_cast<void>(may("timespec_get"));
  return real_timespec_get.get()(time, base);
}

// --- random numbers ---

std::uint32_t arc4random() noexcept {
  if (serving_machine() != nullptr) return served_number();
  static_cast<void>(may("arc4random"));
  return real_arc4random.get()();
}

int getentropy(void* buffer, size_t size) {
  if (serving_machine() != nullptr) {
    constexpr size_t kMost = 256;
    if (size > kMost) return answer(-EIO);
    serving_machine()->fill_randomly({static_cast<std::byte*>(buffer), size});
    return 0;
  }
  static_cast<void>(may("getentropy"));
  return real_getentropy.get()(buffer, size);
}

ssize_t getrandom(void* buffer, size_t size, unsigned flags) {
  if (serving_machine() != nullptr) {
    serving_machine()->fill_randomly({static_cast<std::byte*>(buffer), size});
    return static_cast<ssize_t>(size);
  }
  static_cast<void>(may("getrandom"));
  return real_getrandom.get()(buffer, size, flags);
}

// std::random_device::_M_getval(). Where the C++ library is linked in, its own one wins.
[[gnu::weak]] unsigned _ZNSt13random_device9_M_getvalEv(void* self) {
  if (serving_machine() != nullptr) return served_number();
  static_cast<void>(may("std::random_device"));
  return real_random_device.get()(self);
}

// --- sleeping: skipped where nobody serves it ---

int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  if (may_wait(__builtin_return_address(0))) return -serving->sleep(clock, flags, *time, left);
  return may("clock_nanosleep") ? real_clock_nanosleep.get()(clock, flags, time, left) : 0;
}

int nanosleep(const timespec* time, timespec* left) {
  if (may_wait(__builtin_return_address(0))) {
    return answer(serving->sleep(CLOCK_MONOTONIC, 0, *time, left));
  }
  return may("nanosleep") ? real_nanosleep.get()(time, left) : 0;
}

int sched_yield() noexcept {
  if (may_wait(__builtin_return_address(0))) {
    serving->yield();
    return 0;
  }
  return may("sched_yield") ? real_sched_yield.get()() : 0;
}

unsigned sleep(unsigned seconds) {
  if (may_wait(__builtin_return_address(0))) {
    const timespec time = {.tv_sec = static_cast<time_t>(seconds), .tv_nsec = 0};
    timespec left = {};
    const bool slept = serving->sleep(CLOCK_MONOTONIC, 0, time, &left) == 0;
    return slept ? 0 : static_cast<unsigned>(left.tv_sec + (left.tv_nsec > 0 ? 1 : 0));
  }
  return may("sleep") ? real_sleep.get()(seconds) : 0;
}

int usleep(useconds_t span) {
  if (may_wait(__builtin_return_address(0))) {
    constexpr useconds_t kMillion = 1'000'000;
    const timespec time = {.tv_sec = static_cast<time_t>(span / kMillion),
                           .tv_nsec = static_cast<long>(span % kMillion) * 1000};
    return answer(serving->sleep(CLOCK_MONOTONIC, 0, time, nullptr));
  }
  return may("usleep") ? real_usleep.get()(span) : 0;
}

// --- threads, and processes, which are refused ---

pid_t fork() noexcept {
  if (may("fork")) return real_fork.get()();
  errno = EAGAIN;
  return -1;
}

int pthread_create(pthread_t* __restrict thread, const pthread_attr_t* __restrict attributes,
                   void* (*start)(void*), void* __restrict argument) {
  fermata::posix::caller = __builtin_return_address(0);
  if (Threads* const threads = threads_serving()) {
    return threads->create(*thread, attributes, start, argument);
  }
  if (!may("pthread_create")) return EAGAIN;
  const auto create = __interceptor_pthread_create != nullptr ? &__interceptor_pthread_create
                                                              : real_pthread_create.get();
  return create(thread, attributes, start, argument);
}

int thrd_create(thrd_t* thread, thrd_start_t start, void* argument) {
  fermata::posix::caller = __builtin_return_address(0);
  if (Threads* const threads = threads_serving()) {
    auto begun = std::make_unique<StartOfC>(StartOfC{start, argument});
    if (threads->create(*thread, nullptr, &StartOfC::run, begun.get()) != 0) return thrd_error;
    static_cast<void>(begun.release());
    return thrd_success;
  }
  return may("thrd_create") ? real_thrd_create.get()(thread, start, argument) : thrd_error;
}

// --- the end of the process: somebody may want to know whose idea it was ---

// Under names of their own: what a library that is served does here is left by an exception.

[[noreturn]] void fermata_exit(int code) asm("exit");
[[noreturn]] void fermata_exit_at_once(int code) asm("_exit");
[[noreturn]] void fermata_exit_at_once_of_c(int code) asm("_Exit");

void fermata_exit(int code) { leave("exit", real_exit, code, __builtin_return_address(0)); }
void fermata_exit_at_once(int code) {
  leave("_exit", real_exit_at_once, code, __builtin_return_address(0));
}
void fermata_exit_at_once_of_c(int code) {
  leave("_Exit", real_exit_at_once, code, __builtin_return_address(0));
}

}  // extern "C"
