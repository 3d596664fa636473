// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/foreign_timers.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/posix/clock.hpp"
#include "fermata/sim/posix/foreign_signals.hpp"

namespace fermata::sim::detail {

namespace {

bool has_timers(clockid_t clock) noexcept {
  return is_clock(clock) && clock != CLOCK_MONOTONIC_RAW && clock != CLOCK_REALTIME_COARSE &&
         clock != CLOCK_MONOTONIC_COARSE;
}

}  // namespace

ForeignTimers::Timer* ForeignTimers::find(int timer) noexcept {
  const auto found = timers_.find(timer);
  return found == timers_.end() ? nullptr : &found->second;
}

// Without an event its value is its number.
int ForeignTimers::create(clockid_t clock, const sigevent* event, int& number) {
  if (!has_timers(clock)) return is_clock(clock) ? -EOPNOTSUPP : -EINVAL;
  Timer timer{.number = made_, .signal = SIGALRM, .thread = 0, .value = {.sival_int = made_}};
  if (event != nullptr) {
    const bool is_for_thread = event->sigev_notify == SIGEV_THREAD_ID;
    const bool sends = is_for_thread || event->sigev_notify == SIGEV_SIGNAL;
    if (!sends && event->sigev_notify != SIGEV_NONE) return -EINVAL;
    if (sends && !is_signal(event->sigev_signo)) return -EINVAL;
    if (is_for_thread) {
      timer.thread = signals_.thread_of(event->_sigev_un._tid);
      if (timer.thread == 0) return -EINVAL;
    }
    timer.signal = sends ? event->sigev_signo : 0;
    timer.value = event->sigev_value;
  }
  number = made_++;
  Timer& kept = timers_.emplace(number, std::move(timer)).first->second;
  const std::uint64_t key =
      key_of(key_of(machine_.key(), "timer of signals"), static_cast<std::uint64_t>(number));
  kept.clock =
      std::make_unique<IntervalTimer>(machine_, clock, key, [this, &kept] { expired(kept); });
  return 0;
}

int ForeignTimers::set(int number, int flags, const itimerspec& setting, itimerspec* before) {
  Timer* const timer = find(number);
  if (timer == nullptr) return -EINVAL;
  if (before != nullptr) *before = timer->clock->left();
  if (std::exchange(timer->is_under_way, false)) signals_.forget_timer(number);
  timer->overrun = 0;
  timer->clock->set((flags & TIMER_ABSTIME) != 0, setting);
  return 0;
}

int ForeignTimers::get(int number, itimerspec& left) {
  Timer* const timer = find(number);
  if (timer == nullptr) return -EINVAL;
  left = timer->clock->left();
  return 0;
}

int ForeignTimers::overrun(int number) {
  const Timer* const timer = find(number);
  return timer == nullptr ? -EINVAL : timer->overrun;
}

int ForeignTimers::remove(int number) {
  const Timer* const timer = find(number);
  if (timer == nullptr) return -EINVAL;
  if (timer->is_under_way) signals_.forget_timer(number);
  timers_.erase(number);
  return 0;
}

// One that expires once and is ignored has expired.
void ForeignTimers::expired(Timer& timer) {
  FERMATA_ASSERT(!timer.is_under_way);
  if (timer.signal == 0) return;
  siginfo_t info = {};
  info.si_signo = timer.signal;
  info.si_code = SI_TIMER;
  info.si_timerid = timer.number;
  info.si_value = timer.value;
  timer.is_under_way = signals_.time_out(info, timer.thread);
}

void ForeignTimers::let_in(siginfo_t& info) {
  FERMATA_ASSERT(info.si_code == SI_TIMER);
  Timer* const timer = find(info.si_timerid);
  if (timer == nullptr) return;
  timer->is_under_way = false;
  const std::uint64_t times = timer->clock->take();
  FERMATA_ASSERT(times > 0);
  timer->overrun = static_cast<int>(std::min<std::uint64_t>(times - 1, INT_MAX));
  info.si_overrun = timer->overrun;
}

void ForeignTimers::is_heard(int signal) {
  for (auto& [number, timer] : timers_) {
    const bool waits = timer.clock->has_expired() && timer.clock->repeats();
    if (timer.signal == signal && waits && !timer.is_under_way) expired(timer);
  }
}

void ForeignTimers::is_dropped(int signal) noexcept {
  for (auto& [number, timer] : timers_) {
    if (timer.signal == signal) timer.is_under_way = false;
  }
}

}  // namespace fermata::sim::detail
