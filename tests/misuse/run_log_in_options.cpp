// SPDX-License-Identifier: Apache-2.0
// expects: no member named

#include <fermata/sim.hpp>

fermata::sim::WorldOptions without_a_log() {
  fermata::sim::WorldOptions options;
  options.run_log = nullptr;
  return options;
}
