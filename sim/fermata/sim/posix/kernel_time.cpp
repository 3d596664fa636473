// SPDX-License-Identifier: Apache-2.0

// Clocks and sleeps, and random numbers.

#include <cerrno>
#include <cstring>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/posix/clock.hpp"
#include "fermata/sim/posix/clock_news.hpp"
#include "fermata/sim/posix/kernel_calls.hpp"

namespace fermata::sim::detail {

// When the run is over time goes on by itself, so that who waits for a time in a loop ends.
int SimKernel::clock_gettime(clockid_t clock, timespec& time) {
  constexpr Duration kAfterEnd = std::chrono::milliseconds(10);
  if (!is_clock(clock)) return -EINVAL;
  const int code = enter("clock_gettime");
  if (code == 0) idle();
  const auto late = static_cast<std::int64_t>(calls_after_end_);
  time = timespec_of(clock_shown(machine_, clock) + late * kAfterEnd);
  return 0;
}

// Nobody may set it to a time at which the machine had not been up for as long as it is.
int SimKernel::clock_settime(clockid_t clock, const timespec& time) {
  constexpr time_t kLatest = INT64_MAX / 1'000'000'000 - time_t{30} * 365 * 24 * 3600;
  if (const int code = enter("clock_settime")) return code;
  if (clock != CLOCK_REALTIME || time.tv_sec < 0 || time.tv_sec >= kLatest) return -EINVAL;
  if (duration_of(time) < clock_shown(machine_, CLOCK_MONOTONIC)) return -EINVAL;
  machine_.step_wall_clock(duration_of(time) - clock_shown(machine_, clock));
  return 0;
}

int SimKernel::sleep(clockid_t clock, int flags, const timespec& time, timespec* left) {
  leave_if_endless();
  constexpr long kBillion = 1'000'000'000;
  if (time.tv_nsec < 0 || time.tv_nsec >= kBillion || time.tv_sec < 0) return -EINVAL;
  if (!is_clock(clock)) return -EINVAL;
  if (const int code = enter("nanosleep")) return code;
  const bool absolute = (flags & TIMER_ABSTIME) != 0;
  const bool may_be_set = absolute && is_wall_clock(clock);
  if (is_wall_clock(clock) && !absolute) clock = CLOCK_MONOTONIC;
  const Duration begun = clock_shown(machine_, clock);
  const Duration end = absolute ? duration_of(time) : add(begun, duration_of(time));
  if (end <= begun) {
    yield();
    return 0;
  }
  const int waited = suspended("nanosleep", [&](const SourcePlace& place, Event* token) {
    if (token == nullptr && !may_be_set && end - begun <= kForever) {
      return delay(end - begun, place);
    }
    try {
      ReadyWait never(current_runtime(), machine_, "nanosleep", {});
      std::optional<ClockNews> news;
      if (may_be_set) news.emplace(machine_, never);
      do {
        fermata::wait(never, {.timeout = limit_until(machine_, clock, end), .token = token}, place);
      } while (news && news->take());
    } catch (const Timeout&) {  // It has slept.
    }
  });
  if (waited != 0) leave_if_endless();
  if (waited != 0 && left != nullptr && !absolute) {
    *left = timespec_of(std::max(end - clock_shown(machine_, clock), Duration::zero()));
  }
  return waited;
}

void SimKernel::yield() {
  if (enter("sched_yield") != 0 || current_runtime().current() == nullptr) return;
  const unsigned before = idle_calls_;
  static_cast<void>(
      suspended("sched_yield", [](const SourcePlace& place, Event*) { suspend(place); }));
  idle_calls_ = before;  // It has not waited for anything.
  idle();
}

// --- random numbers ---

// What is drawn is 0 whenever a strategy varies nothing; what is told is different each time.
void SimKernel::fill_randomly(std::span<std::byte> target) {
  const bool ended = enter("getrandom") != 0;
  const auto now = static_cast<std::uint64_t>(clock_shown(machine_, CLOCK_MONOTONIC).count());
  const std::uint64_t key = key_of(key_of(machine_.key(), "random"), now);
  while (!target.empty()) {
    const std::uint64_t drawn = ended ? calls_after_end_ : random_bits();
    const std::uint64_t bits = drawn ^ key_of(key, random_words_++);
    const std::size_t part = std::min(target.size(), sizeof bits);
    std::memcpy(target.data(), &bits, part);
    target = target.subspan(part);
  }
}

std::int32_t SimKernel::next_random() {
  if (!random_is_seeded_) seed_random(1);
  std::int32_t number = 0;
  [[maybe_unused]] const int result = ::random_r(&random_, &number);
  FERMATA_ASSERT(result == 0);
  return number;
}

void SimKernel::seed_random(unsigned seed) {
  random_ = {};
  random_state_ = {};
  random_is_seeded_ = true;
  [[maybe_unused]] const int result =
      ::initstate_r(seed, random_state_.data(), random_state_.size(), &random_);
  FERMATA_ASSERT(result == 0);
}

}  // namespace fermata::sim::detail
