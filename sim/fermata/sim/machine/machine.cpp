// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/machine/machine.hpp"

#include <fmt/format.h>

#include "fermata/sim/base/amount.hpp"

namespace fermata::sim::detail {

void Machine::step_wall_clock(Duration by) {
  if (run_log() != nullptr) {
    const bool is_ahead = by > Duration::zero();
    record_incident("clock", fmt::format("has its wall clock set {} by {}",
                                         is_ahead ? "ahead" : "back", amount(is_ahead ? by : -by)));
  }
  clock().step_wall(by);
}

}  // namespace fermata::sim::detail
