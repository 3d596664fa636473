// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/world_options.hpp"

namespace fermata::sim::detail {

WorldOptions world_options(const Options& options) {
  WorldOptions world;
  world.set_limits(options.limits);
  world.faults = options.faults;
  world.full_audit = options.full_audit;
  return world;
}

WorldOptions world_options(const Options& options, const Tape& tape) {
  WorldOptions world = world_options(options);
  world.set_limits(tape.limits);
  world.faults = FaultSet::parse(tape.faults);
  return world;
}

}  // namespace fermata::sim::detail
