// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "properties/models/loop_script.hpp"

namespace fermata::properties {

/// What scripts are made of.
struct LoopScriptOptions {
  /// Timers with spans. Without, the order depends on nothing else, and nobody waits.
  bool spans = true;
  /// Not where time passes with spans: telling that a descriptor is ready takes time too.
  bool descriptors = true;
  bool suspends_main = true;
};

[[nodiscard]] models::LoopScript make_loop_script(std::uint64_t seed,
                                                  const LoopScriptOptions& options);

}  // namespace fermata::properties
