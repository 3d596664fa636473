// SPDX-License-Identifier: Apache-2.0
#pragma once

// Laws over a loop of callbacks.

#include <span>
#include <string_view>

#include "fermata/sim/run/runner.hpp"

namespace fermata::properties {

struct LoopLaw {
  std::string_view name;
  std::string_view sentence;
  /// The law as something to explore: another script for each seed.
  sim::Program (*exploration)();
};

extern const LoopLaw kLoopModel;
extern const LoopLaw kLoopLedger;

[[nodiscard]] std::span<const LoopLaw* const> loop_laws();

}  // namespace fermata::properties
