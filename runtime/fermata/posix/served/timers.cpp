// SPDX-License-Identifier: Apache-2.0

// Timers that send signals: timer_create() and its relatives.

#include "fermata/posix/timers.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>

#include "fermata/base/assert.hpp"
#include "fermata/posix/served/limit.hpp"
#include "fermata/posix/served/real.hpp"
#include "fermata/posix/signals.hpp"

using fermata::posix::answer;
using fermata::posix::is_valid;
using fermata::posix::serving;
using fermata::posix::Signals;
using fermata::posix::Timers;

namespace {

/// Who serves a call from there, which is noted; null: the C library.
Timers* timers_for(const void* from) noexcept {
  if (__builtin_expect(serving == nullptr, 1)) return nullptr;
  FERMATA_ASSERT(from != nullptr);
  fermata::posix::caller = from;
  Signals* const signals = serving->signals();
  return signals == nullptr ? nullptr : &signals->timers();
}

// The C library has a timer's number in place of a pointer.
int number_of(timer_t timer) noexcept {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(timer));
}

}  // namespace

extern "C" {

int timer_create(clockid_t clock, sigevent* event, timer_t* timer) noexcept {
  Timers* const timers = timers_for(__builtin_return_address(0));
  if (timers == nullptr) return FERMATA_REAL(timer_create)(clock, event, timer);
  if (event != nullptr && event->sigev_notify == SIGEV_THREAD) {
    serving->refuse("timer_create(SIGEV_THREAD)", __builtin_return_address(0));
    return answer(-ENOSYS);
  }
  int number = 0;
  const int result = timers->create(clock, event, number);
  if (result == 0) *timer = reinterpret_cast<timer_t>(std::intptr_t{number});
  return answer(result);
}

int timer_settime(timer_t timer, int flags, const itimerspec* setting,
                  itimerspec* before) noexcept {
  Timers* const timers = timers_for(__builtin_return_address(0));
  if (timers == nullptr) return FERMATA_REAL(timer_settime)(timer, flags, setting, before);
  const bool are_times =
      setting != nullptr && is_valid(setting->it_value) && is_valid(setting->it_interval);
  if (!are_times) return answer(-EINVAL);
  return answer(timers->set(number_of(timer), flags, *setting, before));
}

int timer_gettime(timer_t timer, itimerspec* left) noexcept {
  Timers* const timers = timers_for(__builtin_return_address(0));
  if (timers == nullptr) return FERMATA_REAL(timer_gettime)(timer, left);
  itimerspec told = {};
  const int code = timers->get(number_of(timer), told);
  if (code != 0 || left == nullptr) return answer(code != 0 ? code : -EFAULT);
  *left = told;
  return 0;
}

int timer_getoverrun(timer_t timer) noexcept {
  Timers* const timers = timers_for(__builtin_return_address(0));
  return timers == nullptr ? FERMATA_REAL(timer_getoverrun)(timer)
                           : answer(timers->overrun(number_of(timer)));
}

int timer_delete(timer_t timer) noexcept {
  Timers* const timers = timers_for(__builtin_return_address(0));
  return timers == nullptr ? FERMATA_REAL(timer_delete)(timer)
                           : answer(timers->remove(number_of(timer)));
}

}  // extern "C"
