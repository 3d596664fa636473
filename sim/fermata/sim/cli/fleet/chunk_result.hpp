// SPDX-License-Identifier: Apache-2.0
#pragma once

// The file that a chunk leaves: what its processes have reported, as they wrote it. Text, but for
// the behaviours, with the size of each part before it and a hash at the end. One that was fuzzed
// has the names of the inputs that reached something new; one that merges, of those that are kept.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/sim/cli/event_reader.hpp"

namespace fermata::sim::cli {

struct ChunkResult {
  std::string test;
  std::uint64_t number = 0;       // Counts the chunks of the test, from 0.
  std::vector<EventFiles> parts;  // In the order of their runs.
  std::vector<std::string> inputs = {};

  [[nodiscard]] std::string text() const;
  /// Throws Error when `text` is not whole.
  [[nodiscard]] static ChunkResult parse(std::string_view text);

  [[nodiscard]] std::vector<RangeResult> ranges() const;
};

}  // namespace fermata::sim::cli
