// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

/// Whether the process has no descriptor left for what it opens now, `what`: "connection", ...
inline bool out_of_descriptors(Machine& machine, RandomStream stream, std::string_view what) {
  const std::uint64_t key = machine.decisions().named(
      key_of(key_of(machine.key(), "descriptor"), what),
      [&] { return "a descriptor for a " + std::string(what) + " on " + machine.name(); });
  return machine.faults().strikes(Fault::OutOfDescriptors, stream, key);
}

}  // namespace fermata::sim::detail
