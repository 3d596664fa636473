// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a machine's clock shows. A world's time is the same everywhere; a machine's clock may gain
// or lose against it, and its wall clock may jump.

#include <cstdint>

#include "fermata/base/time.hpp"
#include "fermata/core/reactor.hpp"

namespace fermata::sim::detail {

class NodeClock {
 public:
  static constexpr std::int32_t kMostDrift = 100'000;

  /// Shows the world's time, and on the wall 2020-01-01 and as much.
  void reset() noexcept { *this = NodeClock(); }

  /// From `now` on it gains `ppm` millionths. REQUIRES: not more than kMostDrift, either way.
  void set_drift(std::int32_t ppm, Instant now) noexcept;
  void step_wall(Duration by) noexcept { wall_ahead_ += by; }

  /// The time that it shows at `when`, which is not before the last set_drift().
  [[nodiscard]] Instant shown(Instant when) const noexcept;
  /// The first time of the world at which it shows `shown` or more.
  [[nodiscard]] Instant when_shown(Instant shown) const noexcept;
  [[nodiscard]] WallTime wall(Instant when) const noexcept;

 private:
  // At `since_` it showed `base_`.
  Instant since_;
  Instant base_;
  std::int32_t ppm_ = 0;
  Duration wall_ahead_{};
};

}  // namespace fermata::sim::detail
