// SPDX-License-Identifier: Apache-2.0
#pragma once

// What faults add to the time that things are under way.

#include <concepts>
#include <cstdint>
#include <string>

#include "fermata/base/time.hpp"
#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

/// What `fault` adds for something that `machine` sends now, drawn under `key`: zero when it does
/// not strike, else 20 us to 82 ms. `teller(delay)` says what that does.
template <std::invocable<Duration> Tell>
[[nodiscard]] Duration extra_delay(Machine& machine, Fault fault, std::uint64_t key,
                                   const Tell& teller) {
  if (machine.faults().is_absent(fault)) return Duration::zero();
  constexpr Duration kLeast = std::chrono::microseconds(10);
  constexpr std::uint64_t kDelays = 14;  // Each twice the one before.
  const auto delay = [&](std::uint64_t drawn) {
    return drawn == 0 ? Duration::zero() : kLeast * (1 << drawn);
  };
  return delay(machine.faults().strength(
      fault, backend::RandomStream::Network, key, kDelays,
      [&](const Decision& decision) { return teller(delay(decision.value)); }));
}

}  // namespace fermata::sim::detail
