// SPDX-License-Identifier: Apache-2.0

// Time, but for the functions of the guard.

#include <cerrno>
#include <ctime>

#include "fermata/posix/kernel.hpp"
#include "fermata/posix/served/real.hpp"

extern "C" {

// Every clock of a served program counts nanoseconds.
int clock_getres(clockid_t clock, timespec* resolution) noexcept {
  fermata::posix::Kernel* const kernel = fermata::posix::serving;
  if (kernel == nullptr) return FERMATA_REAL(clock_getres)(clock, resolution);
  timespec now = {};
  const int result = kernel->clock_gettime(clock, now);
  if (result == 0 && resolution != nullptr) *resolution = {.tv_sec = 0, .tv_nsec = 1};
  return fermata::posix::answer(result);
}

}  // extern "C"
