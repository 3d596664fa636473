// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/machine/node_clock.hpp"

#include <algorithm>

#include "fermata/base/assert.hpp"

namespace fermata::sim::detail {

namespace {

constexpr std::int64_t kEpoch = 1'577'836'800'000'000'000;
constexpr std::int64_t kMillion = 1'000'000;

/// `value` * `numerator` / `denominator`, which are positive, rounded up or down; without overflow
/// on the way.
std::int64_t scaled(std::int64_t value, std::int64_t numerator, std::int64_t denominator, bool up) {
  FERMATA_ASSERT(numerator > 0);
  FERMATA_ASSERT(denominator > 0);
  const std::int64_t whole = value / denominator;
  const std::int64_t rest = value % denominator * numerator;
  std::int64_t product = 0;
  if (__builtin_mul_overflow(whole, numerator, &product)) return Instant::never().nanoseconds;
  return product + (rest + (up ? denominator - 1 : 0)) / denominator;
}

}  // namespace

void NodeClock::reset() noexcept {
  since_ = base_ = Instant();
  ppm_ = 0;
  wall_ahead_ = {};
}

void NodeClock::step_wall(Duration by) {
  if (by == Duration::zero()) return;
  wall_ahead_ += by;
  for (WallClockWatcher* const each : watchers_) each->clock_was_set();
}

void NodeClock::add(WallClockWatcher& watcher) {
  FERMATA_ASSERT(std::find(watchers_.begin(), watchers_.end(), &watcher) == watchers_.end());
  watchers_.push_back(&watcher);
}

void NodeClock::remove(WallClockWatcher& watcher) noexcept {
  const std::size_t removed = std::erase(watchers_, &watcher);
  FERMATA_ASSERT(removed == 1);
}

void NodeClock::set_drift(std::int32_t ppm, Instant now) noexcept {
  FERMATA_ASSERT(ppm >= -kMostDrift);
  FERMATA_ASSERT(ppm <= kMostDrift);
  base_ = shown(now);
  since_ = now;
  ppm_ = ppm;
  FERMATA_ASSERT(shown(now) == base_);
}

std::int64_t NodeClock::gained(std::int64_t passed) const noexcept {
  FERMATA_ASSERT(ppm_ != 0);
  return scaled(passed, kMillion + ppm_, kMillion, false);
}

std::int64_t NodeClock::taken(std::int64_t passed) const noexcept {
  FERMATA_ASSERT(ppm_ != 0);
  FERMATA_ASSERT(passed > 0);
  return scaled(passed, kMillion, kMillion + ppm_, true);
}

WallTime NodeClock::wall(Instant when) const noexcept {
  return WallTime{kEpoch + shown(when).nanoseconds + wall_ahead_.count()};
}

}  // namespace fermata::sim::detail
