// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/sim/base/whole_file.hpp"
#include "fermata/sim/cli/fleet/fleet_commands.hpp"
#include "fermata/sim/cli/fleet/fleet_state.hpp"
#include "fermata/sim/cli/verdict.hpp"

namespace fermata::sim::cli {

int fleet_status_command(const Arguments& arguments, MakeReactor make_reactor) {
  const std::string& root = arguments.operands.front();
  FleetState state;
  Runtime runtime(make_reactor(), {.handle_stop_signals = false});
  runtime.run([&] { state = state_of_fleet(root); });
  fmt::print("{}", text_of(state));
  const std::string json = arguments.value("FERMATA_JSON");
  if (!json.empty()) write_whole_file(json, json_of(state));
  return kPass;
}

}  // namespace fermata::sim::cli
