// SPDX-License-Identifier: Apache-2.0
// expects: no member named

#include <fermata/sim.hpp>

fermata::sim::WorldOptions logging_to(fermata::sim::RunLog& log) {
  fermata::sim::WorldOptions options;
  options.run_log = &log;
  return options;
}
