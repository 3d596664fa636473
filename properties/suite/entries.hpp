// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the bundled suite explores: every law, and small programs of the kind that users write.

#include <string>
#include <vector>

#include "fermata/sim/run/runner.hpp"
#include "properties/laws/law.hpp"

namespace fermata::properties::suite {

struct Entry {
  std::string name;
  std::string sentence;
  bool is_law = false;
  sim::Program program;
};

/// `totals`, when given, adds up what happens in the runtimes of the laws' own arenas.
[[nodiscard]] std::vector<Entry> entries(Totals* totals = nullptr);

}  // namespace fermata::properties::suite
