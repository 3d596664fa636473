// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/fleet/fleet_slurm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/program_path.hpp"
#include "fermata/sim/cli/run_options.hpp"

namespace fermata::sim::cli {
namespace {

using std::chrono::minutes;

constexpr std::uint64_t kTasksMax = 100'000;
/// Before the end of a task, when it is told. Slurm keeps its limits by the minute.
constexpr minutes kNotice(1);
constexpr minutes kTimeMin = kNotice + minutes(1);

std::uint64_t checked_tasks(std::string_view text) {
  std::uint64_t tasks = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), tasks);
  if (error != std::errc() || stop != text.data() + text.size() || tasks == 0 ||
      tasks > kTasksMax) {
    throw UsageError(
        fmt::format("'{}' is not a valid number of tasks; expected 1 to {}", text, kTasksMax));
  }
  return tasks;
}

/// Slurm reads quotes, backslashes and percent signs in the script's head in its own way.
void check_path(std::string_view what, std::string_view path) {
  const auto is_bad = [](char letter) {
    return static_cast<unsigned char>(letter) < ' ' || letter == '\x7f' ||
           std::string_view("\"'\\%").find(letter) != std::string_view::npos;
  };
  if (!path.starts_with('/') || std::any_of(path.begin(), path.end(), is_bad)) {
    throw UsageError(fmt::format(
        "fleet slurm: the path of the {}, '{}', cannot be in a script of Slurm: expected an "
        "absolute one without quotes, backslashes, percent signs and control characters",
        what, path));
  }
}

void check_partition(std::string_view partition) {
  const auto is_good = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') ||
           std::string_view("_-.,").find(letter) != std::string_view::npos;
  };
  if (!std::all_of(partition.begin(), partition.end(), is_good)) {
    throw UsageError(
        fmt::format("--partition: '{}' is not a valid name of a partition; expected letters, "
                    "digits, `_`, `-`, `.`, and `,` between several",
                    partition));
  }
}

/// "01:30:00".
std::string time_text(minutes time) {
  FERMATA_ASSERT(time > minutes(0));
  return fmt::format("{:02}:{:02}:00", time.count() / 60, time.count() % 60);
}

}  // namespace

std::string slurm_script(const SlurmOptions& options) {
  FERMATA_ASSERT(options.tasks > 0 && options.jobs > 0);
  check_path("plan", options.plan);
  check_path("tool", options.tool);
  check_partition(options.partition);
  if (options.time < kTimeMin) {
    throw UsageError(
        fmt::format("--time: {} min is too short: expected at least {} min, since Slurm tells the "
                    "tasks a minute before",
                    options.time.count(), kTimeMin.count()));
  }
  std::string text = fmt::format(
      "#!/usr/bin/env bash\n"
      "#SBATCH --job-name=fermata\n"
      "#SBATCH --array=0-{}\n"
      "#SBATCH --cpus-per-task={}\n"
      "#SBATCH --time={}\n"
      "#SBATCH --signal=B:TERM@{}\n"
      "#SBATCH --requeue\n"
      "#SBATCH --open-mode=append\n"
      "#SBATCH --output=\"{}/logs/%A_%a.log\"\n",
      options.tasks - 1, options.jobs, time_text(options.time),
      std::chrono::seconds(kNotice).count(), options.plan);
  if (!options.partition.empty())
    text += fmt::format("#SBATCH --partition={}\n", options.partition);
  return text +
         fmt::format(
             "\n"
             "# Tasks may be lost, queued again or run twice: each takes chunks of the plan until\n"
             "# none is left. When its time is over, it gives its chunk back and ends in order,\n"
             "# with code 130, which does not fail the task: what is left is for others.\n"
             "told=\n"
             "trap 'told=1; kill -s TERM \"$worker\"' TERM\n"
             "{} fleet work {} --jobs {} &\n"
             "worker=$!\n"
             "wait \"$worker\"; code=$?\n"
             "if [[ -n $told ]]; then wait \"$worker\"; code=$?; fi\n"
             "[[ $code -eq 130 ]] || exit \"$code\"\n",
             detail::shell_quoted(options.tool), detail::shell_quoted(options.plan), options.jobs);
}

SlurmOptions slurm_options(const Arguments& arguments) {
  const RunOptions run = run_options(arguments);
  SlurmOptions options;
  options.plan = std::filesystem::absolute(arguments.operands.front()).lexically_normal().string();
  if (options.plan.size() > 1 && options.plan.ends_with('/')) options.plan.pop_back();
  options.tool = detail::program_path();
  options.partition = arguments.value("FERMATA_PARTITION");
  if (arguments.settings.contains("FERMATA_JOBS")) options.jobs = run.jobs;
  if (run.time) options.time = std::chrono::ceil<minutes>(*run.time);
  const auto tasks = arguments.settings.find("FERMATA_TASKS");
  if (tasks == arguments.settings.end()) return options;
  try {
    options.tasks = checked_tasks(tasks->second.value);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", tasks->second.origin, error.what()));
  }
  return options;
}

}  // namespace fermata::sim::cli
