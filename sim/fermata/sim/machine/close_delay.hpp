// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <concepts>

#include "fermata/sim/base/amount.hpp"
#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

/// How long the backend takes to let go of a handle, over and above until the next turn. Reports
/// call the handle what `name` returns.
template <std::invocable Name>
[[nodiscard]] Duration close_delay(Machine& machine, std::uint64_t key, const Name& name) {
  constexpr std::uint64_t kCloseKey = key_of("close");
  constexpr Duration kLeast = std::chrono::microseconds(10);
  constexpr std::uint64_t kDelays = 12;  // Each twice the one before.
  const auto tell = [&](const Decision& decision) {
    return fmt::format("the close of {} on '{}' takes {} longer", name(), machine.name(),
                       amount(kLeast * (1 << decision.value)));
  };
  const std::uint64_t slow = machine.faults().strength(
      Fault::SlowClose, backend::RandomStream::Time, key_of(key, kCloseKey), kDelays, tell);
  return slow == 0 ? Duration::zero() : kLeast * (1 << slow);
}

}  // namespace fermata::sim::detail
