// SPDX-License-Identifier: Apache-2.0

// The tool `fermata`.

#include <cstdio>
#include <exception>
#include <memory>
#include <string_view>
#include <utility>

#include "fermata/sim/cli/arguments.hpp"
#include "fermata/sim/cli/commands.hpp"
#include "fermata/sim/cli/descendants.hpp"
#include "fermata/sim/cli/fleet/fleet_commands.hpp"
#include "fermata/sim/cli/verdict.hpp"
#include "fermata/uv/reactor.hpp"

namespace fermata::sim::cli {
namespace {

std::unique_ptr<backend::Reactor> make_reactor() { return uv::make_reactor(); }

template <int (*command)(const Arguments&, MakeReactor)>
int with_reactor(const Arguments& arguments) {
  return command(arguments, make_reactor);
}

constexpr std::pair<std::string_view, int (*)(const Arguments&)> kCommands[] = {
    {"run", run_command},
    {"replay", replay_command},
    {"list", list_command},
    {"inspect", inspect_command},
    {"shrink", shrink_command},
    {"explain", explain_command},
    {"report", report_command},
    {"debug", debug_command},
    {"merge", merge_command},
    {"fleet plan", with_reactor<fleet_plan_command>},
    {"fleet fuzz", with_reactor<fleet_plan_command>},
    {"fleet work", with_reactor<fleet_work_command>},
    {"fleet status", with_reactor<fleet_status_command>},
    {"fleet watch", with_reactor<fleet_watch_command>},
    {"fleet result", fleet_result_command},
    {"fleet compare", fleet_compare_command},
    {"fleet slurm", fleet_slurm_command},
    {"env", env_command},
    {"completion", completion_command}};

int run_tool(int argc, const char* const* argv) {
  try {
    become_subreaper();
    const Arguments arguments = parse_arguments(argc, argv);
    for (const auto& [verb, command] : kCommands) {
      if (verb == arguments.verb) return command(arguments);
    }
    return kPass;
  } catch (const std::exception& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "fermata: %s\n", error.what());
    return kUsage;
  }
}

}  // namespace
}  // namespace fermata::sim::cli

int main(int argc, char** argv) { return fermata::sim::cli::run_tool(argc, argv); }
