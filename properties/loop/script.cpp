// SPDX-License-Identifier: Apache-2.0
#include "properties/loop/script.hpp"

#include "tests/support/splitmix.hpp"

namespace fermata::properties {

using models::LoopAct;
using models::LoopCall;
using models::LoopDeed;
using models::LoopScript;

namespace {

LoopCall make_call(test::SplitMix& random, const LoopScriptOptions& options, std::size_t most) {
  LoopCall call(random.below(most + 1));
  for (LoopAct& act : call) {
    act.deed = static_cast<LoopDeed>(random.below(models::kLoopDeeds));
    const bool ends = act.deed == LoopDeed::Stop || act.deed == LoopDeed::Throw;
    if (ends && !random.once_in(4)) act.deed = LoopDeed::Defer;
    if (act.is_about_connection() && !options.descriptors) act.deed = LoopDeed::Delay;
    act.subject = static_cast<unsigned>(random.below(64));
    act.span = options.spans ? static_cast<unsigned>(random.below(6)) : 0;
  }
  return call;
}

}  // namespace

LoopScript make_loop_script(std::uint64_t seed, const LoopScriptOptions& options) {
  test::SplitMix random(seed);
  LoopScript script;
  for (std::size_t left = 1 + random.below(4); left > 0; --left) {
    const bool suspends = random.once_in(4) && options.suspends_main;
    const bool is_busy = !options.spans && !random.once_in(4);
    const bool has_handler = random.once_in(3);
    script.runs.push_back({make_call(random, options, 8), suspends, is_busy, has_handler});
  }
  for (std::size_t left = random.below(50); left > 0; --left) {
    script.calls.push_back(make_call(random, options, 4));
  }
  return script;
}

}  // namespace fermata::properties
