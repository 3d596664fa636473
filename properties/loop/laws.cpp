// SPDX-License-Identifier: Apache-2.0

// Laws over a loop of callbacks.

#include <memory>
#include <string>
#include <vector>

#include "fermata/sim/world/world.hpp"
#include "properties/laws/law.hpp"
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

Scenario beside_model(std::uint64_t seed) {
  const auto script = std::make_shared<const LoopScript>(
      make_loop_script(seed, {.spans = false, .descriptors = false}));
  const auto play = [script](sim::World& world) {
    play_beside_model(*script, world);
    return Tally{};
  };
  return {play, [script] { return script->text(); }};
}

Scenario with_ledger(std::uint64_t) {
  return {[](sim::World& world) {
    keep_ledger(world);
    return Tally{};
  }};
}

}  // namespace

constinit const Law kLoopModel = {
    .name = "loop_model",
    .sentence = "a loop of callbacks does what its model does, tick by tick",
    .invariants = {},
    .from_seed = &beside_model};
constinit const Law kLoopLedger = {
    .name = "loop_tcp",
    .sentence = "what is sent on a connection of a loop comes once and in order",
    .invariants = {},
    .from_seed = &with_ledger};

}  // namespace fermata::properties
