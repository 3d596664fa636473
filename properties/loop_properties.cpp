// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "fermata/runtime/core/suspend.hpp"
#include "fermata/runtime/loop/loop.hpp"
#include "properties/loop/play.hpp"
#include "properties/models/loop_model.hpp"
#include "tests/conformance/sim_arm.hpp"
#include "tests/conformance/uv_arm.hpp"
#include "tests/support/splitmix.hpp"

namespace fermata::properties {
namespace {

using conformance::SimArm;
using conformance::UvArm;

// Timers that are registered, cancelled and extracted in random order, against a sorted list.
void use_timers_at_random(std::uint64_t seed) {
  using Due = std::tuple<Instant, std::uint64_t>;  // In the order of the calls.
  test::SplitMix random(seed);
  loop::Loop loop;
  std::map<loop::CallbackId, Due> model;
  std::uint64_t armed = 0;
  const auto least = [&] {
    return std::min_element(model.begin(), model.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; });
  };
  for (int step = 0; step < 200; ++step) {
    if (random.below(3) != 0 || model.empty()) {
      const Duration span(random.below(40));
      const loop::CallbackId id = loop.delay(span, [&](loop::CallbackId me) {
        EXPECT_EQ(me, least()->first) << "seed " << seed << ", step " << step;
        EXPECT_GE(now(), std::get<Instant>(model.at(me)));
        model.erase(me);
      });
      model.emplace(id, Due(now() + span, armed++));
    } else if (random.below(2) == 0) {
      const auto victim =
          std::next(model.begin(), static_cast<std::ptrdiff_t>(random.below(model.size())));
      EXPECT_TRUE(loop.cancel(victim->first));
      model.erase(victim);
    } else {
      const loop::CallbackId end = loop.delay(Duration(random.below(20)), [&] { loop.stop(); });
      loop.run();
      loop.cancel(end);
    }
    EXPECT_EQ(loop.timer_count(), model.size());
  }
  loop.run();
  EXPECT_TRUE(model.empty());
}

TEST(LoopTimers, AgreeWithASortedList) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SimArm::run([seed] { use_timers_at_random(seed); });
  }
}

TEST(Loop, AgreesWithItsModelInSimulation) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const models::LoopScript script = make_loop_script(seed, {});
    const std::vector<std::string> expected = models::LoopModel(script).play();
    std::vector<std::string> seen;
    SimArm::run([&] { seen = play_on_loop(script, {}); });
    ASSERT_EQ(seen, expected) << "seed " << seed << "\n" << script.text();
  }
}

TEST(Loop, AgreesWithItsModelOnLibuv) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const models::LoopScript script = make_loop_script(seed, {.virtual_time = false});
    const std::vector<std::string> expected = without_times(models::LoopModel(script).play());
    std::vector<std::string> seen;
    UvArm::run([&] { seen = play_on_loop(script, {.times = false}); });
    ASSERT_EQ(seen, expected) << "seed " << seed << "\n" << script.text();
  }
}

}  // namespace
}  // namespace fermata::properties
