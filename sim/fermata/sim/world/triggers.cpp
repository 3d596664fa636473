// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/world/triggers.hpp"

#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

void SimTriggers::request_delivery() noexcept {
  if (delivery_.scheduled()) return;
  machine_.agenda().schedule(delivery_, machine_.earliest_visible_time(),
                             key_of(machine_.key(), "triggers"));
}

}  // namespace fermata::sim::detail
