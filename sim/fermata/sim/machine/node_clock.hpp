// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a machine's clock shows. A world's time is the same everywhere; a machine's clock may gain
// or lose against it, and its wall clock may jump.

#include <cstdint>
#include <vector>

#include "fermata/base/time.hpp"
#include "fermata/core/reactor.hpp"

namespace fermata::sim::detail {

/// Is told when a wall clock is set.
class WallClockWatcher {
 public:
  /// It has been set, maybe by another machine's program: what this does has to show later.
  virtual void clock_was_set() = 0;

 protected:
  ~WallClockWatcher() = default;
};

class NodeClock {
 public:
  static constexpr std::int32_t kMostDrift = 100'000;

  /// Shows the world's time, and on the wall 2020-01-01 and as much.
  void reset() noexcept;

  /// From `now` on it gains `ppm` millionths. REQUIRES: not more than kMostDrift, either way.
  void set_drift(std::int32_t ppm, Instant now) noexcept;
  /// Tells those who watch it, in the order in which they came.
  void step_wall(Duration by);
  void add(WallClockWatcher& watcher);
  void remove(WallClockWatcher& watcher) noexcept;

  /// The time that it shows at `when`, which is not before the last set_drift().
  [[nodiscard]] Instant shown(Instant when) const noexcept {
    const std::int64_t passed = when.nanoseconds - since_.nanoseconds;
    return base_ + Duration(ppm_ == 0 ? passed : gained(passed));
  }
  /// The first time of the world at which it shows `shown` or more.
  [[nodiscard]] Instant when_shown(Instant shown) const noexcept {
    if (shown <= base_) return since_;
    if (shown == Instant::never()) return shown;
    const std::int64_t passes = shown.nanoseconds - base_.nanoseconds;
    return since_ + Duration(ppm_ == 0 ? passes : taken(passes));
  }
  [[nodiscard]] WallTime wall(Instant when) const noexcept;

 private:
  /// What a clock that drifts shows to have passed in `passed` nanoseconds of the world.
  [[nodiscard]] std::int64_t gained(std::int64_t passed) const noexcept;
  /// How long the world takes until such a clock shows `passed` more.
  [[nodiscard]] std::int64_t taken(std::int64_t passed) const noexcept;

  // At `since_` it showed `base_`.
  Instant since_;
  Instant base_;
  std::int32_t ppm_ = 0;
  Duration wall_ahead_{};
  std::vector<WallClockWatcher*> watchers_;
};

}  // namespace fermata::sim::detail
