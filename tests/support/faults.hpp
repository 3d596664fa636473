// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/sim/machine/fault.hpp"

namespace fermata::test {

/// The set of this kind alone.
[[nodiscard]] inline sim::FaultSet only(sim::Fault fault) {
  sim::FaultSet set = sim::FaultSet::none();
  set.add(fault);
  return set;
}

}  // namespace fermata::test
