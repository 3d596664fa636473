// SPDX-License-Identifier: Apache-2.0
#pragma once

// Scripts over a real loop: made from a seed, and played with the same notes as the model's.

#include <cstdint>
#include <string>
#include <vector>

#include "fermata/runtime/base/time.hpp"
#include "properties/models/loop_script.hpp"

namespace fermata::properties {

/// What scripts are made of. Where time is real, spans are zero: then the order depends on nothing
/// else, and nobody waits.
struct LoopScriptOptions {
  bool virtual_time = true;
};

[[nodiscard]] models::LoopScript make_loop_script(std::uint64_t seed,
                                                  const LoopScriptOptions& options);

struct LoopStage {
  Duration unit = std::chrono::milliseconds(1);  // Of the script's spans.
  bool times = true;                             // The notes have the time.
};

/// Plays the script on a loop of its own, inside a coroutine.
std::vector<std::string> play_on_loop(const models::LoopScript& script, const LoopStage& stage);

/// The notes without their times.
[[nodiscard]] std::vector<std::string> without_times(std::vector<std::string> notes);

}  // namespace fermata::properties
