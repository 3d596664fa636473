// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/audit/step_teller.hpp"

#include <gtest/gtest.h>

#include <set>

#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sim/strategy/calm.hpp"
#include "fermata/sim/tape/decisions.hpp"
#include "fermata/sim/world/world.hpp"
#include "fermata/sync/await.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

/// Notes whose steps it is told of.
class Listener final : public CalmStrategy {
 public:
  [[nodiscard]] StepNews news() const override { return StepNews::Footprints; }
  void end_step(std::uint64_t path, const Footprint&) override { heard.insert(path); }

  std::set<std::uint64_t> heard;
};

TEST(StepTeller, AStepIsThatOfWhoeverRanOrNobodys) {
  Listener listener;
  Decisions decisions(listener);
  World world(decisions, {.faults = FaultSet::none()});
  decisions.begin(1);
  std::set<std::uint64_t> expected = {0};
  world.node("main", [&] {
    expected.insert(current_coroutine().path());
    const auto child = spawn("child", [&] {
      expected.insert(current_coroutine().path());
      delay(1ms);
    });
    delay(2ms);  // Timers fire in turns of the reactor, which are nobody's.
    await(child);
  });
  world.run();
  EXPECT_FALSE(world.failure());
  EXPECT_EQ(listener.heard, expected);
}

}  // namespace
}  // namespace fermata::sim
