// SPDX-License-Identifier: Apache-2.0
#pragma once

// Damage of each kind that the audit knows, done to a runtime that runs, and the step by which it
// must have been told. What the audit can complain about has at least one row here.

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace fermata::properties {

struct Damage {
  const char* id;      // The invariant that the complaint begins with.
  const char* says;    // Words that the complaint contains.
  std::uint64_t step;  // No later than this one the run is over.
  std::function<void()> main;
  std::vector<const char*> also = {};  // Invariants that this is about, too.
  bool recounts = false;               // All after each step: the next one would not survive it.
};
std::ostream& operator<<(std::ostream& out, const Damage& damage);

[[nodiscard]] std::vector<Damage> damages();

/// What is not told of it as it must be, with what is told; empty when nothing is missing.
[[nodiscard]] std::string complaint_about(const Damage& damage);

}  // namespace fermata::properties
