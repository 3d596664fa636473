// SPDX-License-Identifier: Apache-2.0

// Time, but for the functions of the guard.

#include <sys/time.h>

#include <cerrno>
#include <ctime>

#include "fermata/posix/kernel.hpp"
#include "fermata/posix/served/limit.hpp"
#include "fermata/posix/served/real.hpp"
#include "fermata/posix/signals.hpp"

extern "C" {

// Every clock of a served program counts nanoseconds.
int clock_getres(clockid_t clock, timespec* resolution) noexcept {
  fermata::posix::Kernel* const kernel = fermata::posix::serving_machine();
  if (kernel == nullptr) return FERMATA_REAL(clock_getres)(clock, resolution);
  timespec now = {};
  const int result = kernel->clock_gettime(clock, now);
  if (result == 0 && resolution != nullptr) *resolution = {.tv_sec = 0, .tv_nsec = 1};
  return fermata::posix::answer(result);
}

int clock_settime(clockid_t clock, const timespec* time) noexcept {
  fermata::posix::Kernel* const kernel = fermata::posix::serving_machine();
  if (kernel == nullptr) return FERMATA_REAL(clock_settime)(clock, time);
  if (!fermata::posix::is_valid(*time)) return fermata::posix::answer(-EINVAL);
  return fermata::posix::answer(kernel->clock_settime(clock, *time));
}

int settimeofday(const timeval* time, const struct timezone* zone) noexcept {
  fermata::posix::Kernel* const kernel = fermata::posix::serving_machine();
  if (kernel == nullptr) return FERMATA_REAL(settimeofday)(time, zone);
  if (zone != nullptr) return fermata::posix::answer(time != nullptr ? -EINVAL : 0);
  const timespec set = {.tv_sec = time->tv_sec, .tv_nsec = time->tv_usec * 1000};
  if (!fermata::posix::is_valid(set)) return fermata::posix::answer(-EINVAL);
  return fermata::posix::answer(kernel->clock_settime(CLOCK_REALTIME, set));
}

// There is one process whose clocks can be asked.
int clock_getcpuclockid(pid_t process, clockid_t* clock) noexcept {
  fermata::posix::Kernel* const kernel = fermata::posix::serving_machine();
  if (kernel == nullptr || kernel->signals() == nullptr) {
    return FERMATA_REAL(clock_getcpuclockid)(process, clock);
  }
  if (process != 0 && process != kernel->signals()->process_id()) return ESRCH;
  *clock = CLOCK_PROCESS_CPUTIME_ID;
  return 0;
}

}  // extern "C"
