// SPDX-License-Identifier: Apache-2.0

// Sleeping. The guard of the simulator has these functions as well; where both are linked, its ones
// stand.

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "fermata/posix/kernel.hpp"
#include "fermata/posix/real_function.hpp"
#include "fermata/posix/served/real.hpp"

using fermata::posix::answer;
using fermata::posix::Kernel;
using fermata::posix::serving_for;

namespace {

template <class Function>
using Real = fermata::posix::RealFunction<Function>;

constinit Real<int(clockid_t, int, const timespec*, timespec*)> real_clock_nanosleep(
    "clock_nanosleep");
constinit Real<int(const timespec*, timespec*)> real_nanosleep("nanosleep");
constinit Real<int()> real_sched_yield("sched_yield");
constinit Real<unsigned(unsigned)> real_sleep("sleep");
constinit Real<int(useconds_t)> real_usleep("usleep");

// Before anything runs on the stack of a coroutine.
[[gnu::constructor(101)]] void find_all() {
  real_clock_nanosleep.find();
  real_nanosleep.find();
  real_sched_yield.find();
  real_sleep.find();
  real_usleep.find();
}

}  // namespace

extern "C" {

[[gnu::weak]] int clock_nanosleep(clockid_t clock, int flags, const timespec* time,
                                  timespec* left) {
  Kernel* const kernel = serving_for(__builtin_return_address(0));
  if (kernel == nullptr) return real_clock_nanosleep.get()(clock, flags, time, left);
  return -kernel->sleep(clock, flags, *time, left);
}

[[gnu::weak]] int nanosleep(const timespec* time, timespec* left) {
  Kernel* const kernel = serving_for(__builtin_return_address(0));
  if (kernel == nullptr) return real_nanosleep.get()(time, left);
  return answer(kernel->sleep(CLOCK_MONOTONIC, 0, *time, left));
}

[[gnu::weak]] int sched_yield() noexcept {
  Kernel* const kernel = serving_for(__builtin_return_address(0));
  if (kernel == nullptr) return real_sched_yield.get()();
  kernel->yield();
  return 0;
}

[[gnu::weak]] unsigned sleep(unsigned seconds) {
  Kernel* const kernel = serving_for(__builtin_return_address(0));
  if (kernel == nullptr) return real_sleep.get()(seconds);
  const timespec time = {.tv_sec = static_cast<time_t>(seconds), .tv_nsec = 0};
  timespec left = {};
  const bool slept = kernel->sleep(CLOCK_MONOTONIC, 0, time, &left) == 0;
  return slept ? 0 : static_cast<unsigned>(left.tv_sec + (left.tv_nsec > 0 ? 1 : 0));
}

[[gnu::weak]] int usleep(useconds_t span) {
  Kernel* const kernel = serving_for(__builtin_return_address(0));
  if (kernel == nullptr) return real_usleep.get()(span);
  constexpr useconds_t kMillion = 1'000'000;
  const timespec time = {.tv_sec = static_cast<time_t>(span / kMillion),
                         .tv_nsec = static_cast<long>(span % kMillion) * 1000};
  return answer(kernel->sleep(CLOCK_MONOTONIC, 0, time, nullptr));
}

}  // extern "C"
