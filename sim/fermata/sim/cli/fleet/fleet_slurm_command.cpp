// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/counted.hpp"
#include "fermata/sim/base/program_path.hpp"
#include "fermata/sim/base/whole_file.hpp"
#include "fermata/sim/cli/child.hpp"
#include "fermata/sim/cli/fleet/fleet_commands.hpp"
#include "fermata/sim/cli/fleet/fleet_plan.hpp"
#include "fermata/sim/cli/fleet/fleet_slurm.hpp"
#include "fermata/sim/cli/search_path.hpp"
#include "fermata/sim/cli/verdict.hpp"
#include "fermata/sim/run/environment.hpp"

namespace fermata::sim::cli {
namespace {

namespace files = std::filesystem;

/// Returns what sbatch says: the number of the job, on a cluster of several with its name.
std::string submitted(const std::string& sbatch, const std::string& script) {
  FERMATA_ASSERT(files::path(script).is_absolute());
  constexpr std::chrono::minutes kPatience{2};
  Child child({.program = sbatch, .arguments = {"--parsable", script}});
  const bool ended = run_to_end(child, kPatience);
  std::string said = child.output();
  while (said.ends_with('\n')) said.pop_back();
  if (!ended || child.ending().code != 0) {
    throw UsageError(fmt::format("fleet slurm: {} {}: {}; the script is {}", sbatch,
                                 ended ? child.ending().text() : "does not end",
                                 said.empty() ? "no message" : said, script));
  }
  const std::size_t line = said.rfind('\n');
  return said.substr(line == std::string::npos ? 0 : line + 1);
}

}  // namespace

int fleet_slurm_command(const Arguments& arguments) {
  const SlurmOptions options = slurm_options(arguments);
  static_cast<void>(FleetPlan::load(options.plan));
  const std::string text = slurm_script(options);
  if (arguments.settings.contains("FERMATA_PRINT") &&
      parse_switch(arguments.value("FERMATA_PRINT"))) {
    fmt::print("{}", text);
    return kPass;
  }
  const std::string script = options.plan + "/slurm.sh";
  write_whole_file(script, text, "the script ");
  std::error_code error;
  files::create_directory(options.plan + "/logs", error);
  if (error) {
    throw InputOutputError("fleet slurm: make " + options.plan + "/logs", error.value());
  }
  const std::string workers =
      fmt::format("{} of {}", counted(options.tasks, "task"), counted(options.jobs, "worker"));
  const std::string plan = detail::shell_quoted(options.plan);
  const auto sbatch = find_in_path("sbatch");
  if (!sbatch) {
    fmt::print("written: {}, {}\n", script, workers);
    fmt::print("there is no sbatch in PATH: submit it where there is one:\n  sbatch {}\n",
               detail::shell_quoted(script));
    return kPass;
  }
  fmt::print("job: {}\n", submitted(*sbatch, script));
  fmt::print("{}, from {}\nnext: fermata fleet status {}\n", workers, script, plan);
  return kPass;
}

}  // namespace fermata::sim::cli
