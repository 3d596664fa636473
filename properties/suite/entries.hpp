// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the bundled suite explores: every law, and small programs of the kind that users write.

#include <cstdint>
#include <string>
#include <vector>

#include "fermata/sim/run/runner.hpp"
#include "properties/laws/law.hpp"

namespace fermata::properties::suite {

struct Entry {
  std::string name;
  std::string sentence;
  const Law* law = nullptr;  // Null for a small program.
  sim::Program program;
  /// What a schedule costs beside its steps, in steps.
  std::uint64_t beside_steps = 150;
};

/// `total`, unless null, adds up what scripts do in runtimes of their own.
[[nodiscard]] std::vector<Entry> entries(Tally* total = nullptr);

}  // namespace fermata::properties::suite
