// SPDX-License-Identifier: Apache-2.0

// How wrong a clock is that the fault `clock` has struck.

#include <gtest/gtest.h>

#include <string>

#include "fermata/base/time.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sim/tape/decisions.hpp"
#include "fermata/sim/tape/strategy.hpp"
#include "fermata/sim/world/world.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kClockFaults = 36;  // By no other fault.

/// Calm, but for the clock.
class WrongClock final : public Strategy {
 public:
  explicit WrongClock(std::uint64_t strength) : strength_(strength) {}

  [[nodiscard]] std::string name() const override { return "wrong clock"; }
  void begin_run(std::uint64_t) override {}
  std::size_t pick(const Candidates&) override { return 0; }
  /// What is allowed is present.
  std::uint64_t draw(Stream stream, std::uint64_t, std::uint64_t bound) override {
    return stream == Stream::Fault && bound == 2 ? 1 : 0;
  }
  std::uint64_t draw_rarely(Stream, std::uint64_t, std::uint64_t bound, Odds) override {
    return bound == kClockFaults ? strength_ : 0;
  }

 private:
  std::uint64_t strength_;
};

/// Since the epoch, at the beginning of a run.
Duration wall_clock_with(std::uint64_t strength) {
  WrongClock strategy(strength);
  Decisions decisions(strategy);
  World world(decisions, {.faults = FaultSet::parse("clock")});
  decisions.begin(1);
  Duration seen{};
  world.node("main", [&] { seen = Duration(wall_clock().nanoseconds); });
  world.run();
  EXPECT_FALSE(world.failure());
  return seen;
}

TEST(ClockFault, IsAheadOrBehindByAMillisecondOrDoublesOfIt) {
  const Duration right = wall_clock_with(0);
  EXPECT_EQ(wall_clock_with(1) - right, -1ms);
  EXPECT_EQ(wall_clock_with(2) - right, 2ms);
  EXPECT_EQ(wall_clock_with(3) - right, -2ms);
  EXPECT_EQ(wall_clock_with(kClockFaults - 2) - right, 131'072ms);
  EXPECT_EQ(wall_clock_with(kClockFaults - 1) - right, -131'072ms);
}

}  // namespace
}  // namespace fermata::sim
