// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/world/triggers.hpp"

#include "fermata/sim/world/node_state.hpp"

namespace fermata::sim::detail {

void SimTriggers::request_delivery() noexcept {
  if (delivery_.scheduled()) return;
  node_.agenda().schedule(delivery_, node_.time_of_tidings(), key_of(node_.key(), "triggers"));
}

}  // namespace fermata::sim::detail
