// SPDX-License-Identifier: Apache-2.0
#include "properties/scripts/causes.hpp"

#include <cstddef>

namespace fermata::properties {

// The oldest strike that will do: it may be too old for those who come later.
bool Causes::explain(sim::Fault fault, const Beginning& beginning) {
  const auto kind = static_cast<std::size_t>(fault);
  std::uint64_t strike = beginning[kind];
  while (used_[kind].count(strike) > 0) ++strike;
  if (strike >= world_.fault_counts()[kind]) return false;
  used_[kind].insert(strike);
  return true;
}

}  // namespace fermata::properties
