// SPDX-License-Identifier: Apache-2.0
#include "properties/loop/laws.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "fermata/sim/world/world.hpp"
#include "properties/loop/ledger.hpp"
#include "properties/loop/play.hpp"
#include "properties/loop/script.hpp"

namespace fermata::properties {
namespace {

using models::LoopRules;
using models::LoopScript;

// No descriptors: faults are allowed to tell of readiness falsely.
void play_beside_model(const LoopScript& script, sim::World& world) {
  constexpr LoopRules kRules{.real_time = true};
  loop::Loop loop;
  const LoopStage stage{.loop = loop,
                        .run = [&loop] { return loop.run().stopped; },
                        .raise = [&world](int signum) { world.node("main").signal(signum); },
                        .pass_time = [] { sim::consume(Duration(1)); }};
  const std::vector<std::string> seen = play_on_loop(script, stage);
  const std::string complaint = complaint_about(seen, script, kRules);
  if (!complaint.empty()) world.fail(sim::Verdict::Safety, complaint);
}

sim::Program explore_model() {
  const auto script = std::make_shared<LoopScript>();
  sim::Program exploration;
  exploration.prepare = [script](const sim::Preparation& preparation) {
    *script = make_loop_script(preparation.seed, {.spans = false, .descriptors = false});
  };
  exploration.body = [script](sim::World& world) { play_beside_model(*script, world); };
  exploration.arguments = [script] { return script->text(); };
  return exploration;
}

sim::Program explore_ledger() {
  sim::Program exploration;
  exploration.body = &keep_ledger;
  return exploration;
}

}  // namespace

constinit const LoopLaw kLoopModel = {
    "loop_model", "a loop of callbacks does what its model does, tick by tick", &explore_model};
constinit const LoopLaw kLoopLedger = {
    "loop_tcp", "what is sent on a connection of a loop comes once and in order", &explore_ledger};

std::span<const LoopLaw* const> loop_laws() {
  static constexpr std::array kAll = {&kLoopModel, &kLoopLedger};
  return kAll;
}

}  // namespace fermata::properties
