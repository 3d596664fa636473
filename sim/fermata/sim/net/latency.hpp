// SPDX-License-Identifier: Apache-2.0
#pragma once

// What faults add to the time that things are under way.

#include <cstdint>

#include "fermata/base/time.hpp"
#include "fermata/sim/machine/fault.hpp"

namespace fermata::sim::detail {

class Machine;

/// What `fault` adds for something that `machine` sends now, drawn under `key`: zero when it does
/// not strike, else 20 us to 82 ms.
[[nodiscard]] Duration extra_delay(Machine& machine, Fault fault, std::uint64_t key);

}  // namespace fermata::sim::detail
