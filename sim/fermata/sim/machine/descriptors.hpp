// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

/// Whether the process has no descriptor left for what it opens now, `what`: "connection", ...
inline bool out_of_descriptors(Machine& machine, backend::RandomStream stream,
                               std::string_view what) {
  if (machine.faults().is_absent(Fault::OutOfDescriptors)) return false;
  const std::uint64_t key = key_of(key_of(machine.key(), "descriptor"), what);
  const auto tell = [&](const Decision&) {
    return fmt::format("'{}' has no descriptor left for another {}", machine.name(), what);
  };
  return machine.faults().strikes(Fault::OutOfDescriptors, stream, key, tell);
}

}  // namespace fermata::sim::detail
