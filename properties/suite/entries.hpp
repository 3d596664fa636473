// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the bundled suite explores: every law, and small programs of the kind that users write.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/sim/run/runner.hpp"
#include "properties/laws/law.hpp"

namespace fermata::properties::suite {

struct Entry {
  std::string name;
  std::string sentence;
  bool is_law = false;
  sim::Program program;
  /// The smallest program that fails like the one of a seed, as text; empty function: none smaller.
  std::function<std::string(std::string_view strategy, std::uint64_t seed)> shrunk;
};

/// `totals`, when given, adds up what happens in the runtimes of the laws' own arenas.
[[nodiscard]] std::vector<Entry> entries(Totals* totals = nullptr);

}  // namespace fermata::properties::suite
