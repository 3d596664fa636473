// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

/// How long the backend takes to let go of a handle, over and above until the next turn.
inline Duration close_delay(Machine& machine, std::uint64_t key) {
  const std::uint64_t name = machine.decisions().named(key_of(key, "close"), [&] {
    return fmt::format("delay of a close on '{}'", machine.name());
  });
  const std::uint64_t slow =
      machine.faults().strength(Fault::SlowClose, RandomStream::Time, name, 12);
  return slow == 0 ? Duration::zero() : std::chrono::microseconds(10) * (1 << slow);
}

}  // namespace fermata::sim::detail
