// SPDX-License-Identifier: Apache-2.0

// What a fault does that strikes with a strength that was drawn, and how often it is drawn.

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <utility>

#include "fermata/base/time.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/io/udp.hpp"
#include "fermata/sim/strategy/calm.hpp"
#include "fermata/sim/tape/decisions.hpp"
#include "fermata/sim/world/world.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

/// Calm, but for one kind of draw.
class OneStrength final : public CalmStrategy {
 public:
  OneStrength(std::uint64_t bound, std::uint64_t strength) : bound_(bound), strength_(strength) {}

  /// What is allowed is present.
  std::uint64_t draw(backend::RandomStream stream, std::uint64_t, std::uint64_t bound) override {
    return stream == backend::RandomStream::Fault && bound == 2 ? 1 : 0;
  }
  std::uint64_t draw_rarely(backend::RandomStream, std::uint64_t, std::uint64_t bound,
                            Odds odds) override {
    if (bound != bound_) return 0;
    seen = odds;
    return strength_;
  }
  /// Once, at the first place there is.
  std::uint64_t draw_place(backend::RandomStream, std::uint64_t, std::uint64_t, std::uint64_t,
                           Odds) override {
    return std::exchange(place_, 0);
  }

  Odds seen;

 private:
  std::uint64_t bound_;
  std::uint64_t strength_;
  std::uint64_t place_ = 1;
};

void run(OneStrength& strategy, const char* faults, const std::function<void(World&)>& prepare) {
  Decisions decisions(strategy);
  World world(decisions, {.faults = FaultSet::parse(faults)});
  decisions.begin(1);
  prepare(world);
  world.run();
  EXPECT_FALSE(world.failure());
}

/// Wall clock time since the epoch at the beginning of a run.
Duration wall_clock_with(std::uint64_t strength) {
  OneStrength strategy(36, strength);
  Duration seen{};
  run(strategy, "clock", [&](World& world) {
    world.node("main", [&] { seen = Duration(wall_clock().nanoseconds); });
  });
  return seen;
}

TEST(FaultStrength, AClockIsAheadOrBehindByAMillisecondOrDoublesOfIt) {
  const Duration right = wall_clock_with(0);
  EXPECT_EQ(wall_clock_with(1) - right, -1ms);
  EXPECT_EQ(wall_clock_with(2) - right, 2ms);
  EXPECT_EQ(wall_clock_with(3) - right, -2ms);
  EXPECT_EQ(wall_clock_with(34) - right, 131'072ms);
  EXPECT_EQ(wall_clock_with(35) - right, -131'072ms);
}

/// When a datagram comes that is sent at once.
Instant arrival_with(std::uint64_t strength) {
  OneStrength strategy(14, strength);
  Instant seen;
  run(strategy, "clog", [&](World& world) {
    Node& server = world.node("server", [&] {
      auto socket = UdpSocket::bind({"0.0.0.0", 53});
      std::array<std::byte, 8> buffer;
      static_cast<void>(socket.receive(buffer));
      seen = now();
    });
    world.node("client", [&] {
      UdpSocket::bind({"0.0.0.0", 0}).send_to("note", server.address(53));
    });
  });
  return seen;
}

TEST(FaultStrength, ALinkIsCloggedForTwoMillisecondsOrDoublesOfThat) {
  EXPECT_LT(arrival_with(0), Instant{} + 1ms);
  for (const std::uint64_t strength : {1u, 2u, 13u}) {
    const Duration length = 1ms * (1 << strength);
    EXPECT_GE(arrival_with(strength), Instant{} + length);
    EXPECT_LT(arrival_with(strength), Instant{} + length + 1ms);
  }
}

TEST(FaultStrength, ACrashComesBetweenTwoWaitsInOneOfFour) {
  OneStrength strategy(16, 0);
  run(strategy, "crash", [](World& world) { world.node("main", [] { delay(1s); }).may_crash(); });
  EXPECT_EQ(strategy.seen.numerator, 1u);
  EXPECT_EQ(strategy.seen.denominator, 4u);
}

}  // namespace
}  // namespace fermata::sim
