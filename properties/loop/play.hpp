// SPDX-License-Identifier: Apache-2.0
#pragma once

// Scripts over a real loop, played with the same notes as the model's.

#include <functional>
#include <string>
#include <vector>

#include "fermata/base/time.hpp"
#include "fermata/loop/loop.hpp"
#include "properties/models/loop_model.hpp"
#include "properties/models/loop_script.hpp"

namespace fermata::properties {

/// What a script is played on. The loop is new.
struct LoopStage {
  loop::Loop& loop;
  /// Runs the loop; returns whether it was stopped.
  std::function<bool()> run;
  std::function<void(int)> raise;
  /// Lets a moment pass; null where time does so itself.
  std::function<void()> pass_time = nullptr;
  Duration unit = std::chrono::milliseconds(1);  // Of the script's spans.
  bool times = false;                            // The notes have the time.
};

/// Plays the script, inside a coroutine.
std::vector<std::string> play_on_loop(const models::LoopScript& script, const LoopStage& stage);

/// Where the model never has what was seen; empty when it may.
[[nodiscard]] std::string complaint_about(const std::vector<std::string>& seen,
                                          const models::LoopScript& script,
                                          const models::LoopRules& rules);

}  // namespace fermata::properties
