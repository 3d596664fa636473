// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fermata/sim.hpp>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "fermata/core/suspend.hpp"
#include "fermata/loop/loop.hpp"
#include "properties/laws/holds.hpp"
#include "properties/loop/ledger.hpp"
#include "properties/loop/play.hpp"
#include "properties/loop/script.hpp"
#include "properties/models/loop_model.hpp"
#include "tests/conformance/loop_arm.hpp"
#include "tests/conformance/sim_arm.hpp"
#include "tests/support/splitmix.hpp"

namespace fermata::properties {
namespace {

using conformance::ArmKind;
using conformance::LoopArm;
using conformance::SimArm;
using models::LoopModel;
using models::LoopRules;
using models::LoopScript;

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

// --- scripts ---

/// Plays scripts on arms of the conformance suite and compares.
class Comparison {
 public:
  Comparison(const ArmKind& kind, const LoopRules& rules) : kind_(kind), rules_(rules) {}

  /// Whether the script could be played: without time nobody waits until it passes.
  bool play(const LoopScript& script) const {
    if (kind_.is_real && waits(script)) return false;
    const auto arm = kind_.make();
    arm->run([&] {
      const std::vector<std::string> seen = play_on(*arm, script);
      const std::string complaint = complaint_about(seen, script, rules_);
      EXPECT_EQ(complaint, "") << ::testing::PrintToString(seen) << "\n" << script.text();
    });
    return true;
  }

 private:
  [[nodiscard]] bool waits(const LoopScript& script) const {
    const std::vector<std::string> all = LoopModel(script, rules_).play();
    return std::find(all.begin(), all.end(), "guard") != all.end();
  }

  [[nodiscard]] std::vector<std::string> play_on(LoopArm& arm, const LoopScript& script) const {
    LoopStage stage{.loop = arm.loop(),
                    .run = [&arm] { return run(arm); },
                    .raise = [&arm](int signum) { arm.raise(signum); }};
    if (rules_.real_time && arm.is_exact())
      stage.pass_time = [&arm] { arm.block_for(Duration(1)); };
    stage.times = !rules_.real_time;
    return play_on_loop(script, stage);
  }

  static bool run(LoopArm& arm) {
    loop::Loop& loop = arm.loop();
    if (!arm.is_hosted()) return loop.run().stopped;
    bool stopped = true;
    loop.serve([&] {
      stopped = false;
      loop.stop();
    });
    return stopped;
  }

  const ArmKind& kind_;
  const LoopRules rules_;
};

/// Plays one script for each seed; returns how many there were.
unsigned play_all(const ArmKind& kind, const LoopRules& rules, const LoopScriptOptions& options,
                  unsigned seeds) {
  const Comparison comparison(kind, rules);
  unsigned played = 0;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    if (comparison.play(make_loop_script(seed, options))) ++played;
    if (::testing::Test::HasFailure()) break;
  }
  return played;
}

SIM_TEST(LoopTcp, KeepsTheLedgerOfEveryByte) { keep_ledger(world); }

TEST(Loop, HoldsUnderEveryStrategy) {
  EXPECT_TRUE(holds_under_other_strategies(kLoopModel));
  EXPECT_TRUE(holds_under_other_strategies(kLoopLedger));
}

class LoopOnArm : public ::testing::TestWithParam<ArmKind> {};

INSTANTIATE_TEST_SUITE_P(Arms, LoopOnArm, ::testing::ValuesIn(conformance::arm_kinds()),
                         [](const auto& arm) { return std::string(arm.param.name); });

std::vector<ArmKind> simulated_arms() {
  std::vector<ArmKind> kinds = conformance::arm_kinds();
  std::erase_if(kinds, [](const ArmKind& kind) { return kind.is_real; });
  return kinds;
}

class LoopOnSimulatedArm : public ::testing::TestWithParam<ArmKind> {};
INSTANTIATE_TEST_SUITE_P(Arms, LoopOnSimulatedArm, ::testing::ValuesIn(simulated_arms()),
                         [](const auto& arm) { return std::string(arm.param.name); });

TEST_P(LoopOnArm, AgreesWithItsModel) {
  const unsigned seeds = GetParam().is_canonical ? 1000 : 60;  // Each in many orders.
  const LoopRules rules{.real_time = true, .any_order = !GetParam().is_canonical};
  LoopScriptOptions options{.spans = false};
  options.suspends_main = GetParam().name != "hosted_uv";
  EXPECT_GT(play_all(GetParam(), rules, options, seeds), seeds / 2);
}

TEST_P(LoopOnSimulatedArm, AgreesWithItsModelInVirtualTime) {
  const LoopRules rules{.any_order = !GetParam().is_canonical};
  play_all(GetParam(), rules, {.descriptors = false}, rules.any_order ? 60 : 1000);
}

}  // namespace
}  // namespace fermata::properties
