// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/latency.hpp"

#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

namespace {

constexpr Duration kLeastDelay = std::chrono::microseconds(10);
constexpr std::uint64_t kDelays = 14;  // Each twice the one before.

}  // namespace

Duration extra_delay(Machine& machine, Fault fault, std::uint64_t key) {
  const std::uint64_t delay = machine.faults().strength(fault, RandomStream::Network, key, kDelays);
  return delay == 0 ? Duration::zero() : kLeastDelay * (1 << delay);
}

}  // namespace fermata::sim::detail
