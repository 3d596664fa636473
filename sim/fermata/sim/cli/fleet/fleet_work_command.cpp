// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/sim/base/counted.hpp"
#include "fermata/sim/cli/fleet/fleet_commands.hpp"
#include "fermata/sim/cli/fleet/fleet_crew.hpp"
#include "fermata/sim/cli/fleet/fleet_names.hpp"
#include "fermata/sim/cli/fleet/fleet_plan.hpp"
#include "fermata/sim/cli/fleet/fleet_workload.hpp"
#include "fermata/sim/cli/fleet/scratch_folder.hpp"
#include "fermata/sim/cli/interrupts.hpp"
#include "fermata/sim/cli/verdict.hpp"
#include "fermata/sim/fleet/patience.hpp"
#include "fermata/sim/fleet/worker.hpp"

namespace fermata::sim::cli {
namespace {

namespace files = std::filesystem;
using std::chrono::milliseconds;

/// A name that no other worker has: of the machine, the process, and chance.
std::string fresh_name() {
  std::uint32_t chance = 0;
  if (::getrandom(&chance, sizeof chance, 0) != sizeof chance) {
    throw InputOutputError("fleet work: the system gives no random numbers");
  }
  return fmt::format("{}{:08x}", name_begin_of_worker(::getpid()), chance);
}

/// The plan's program, beside this worker's files. Throws UsageError when it is not the one that
/// was planned.
TestBinary copied_program(const FleetPlan& plan, const std::string& root) {
  files::copy_file(root + "/program", "program", files::copy_options::overwrite_existing);
  TestBinary binary("./program");
  if (binary.build() != plan.exploration().build) {
    throw UsageError(
        fmt::format("{}/program is another build than the plan's: expected {}, got {}; make a "
                    "plan of its own for it",
                    root, plan.exploration().build.substr(0, 8), binary.build().substr(0, 8)));
  }
  return binary;
}

/// What the worker has done, for people.
std::string summary(const fleet::WorkerStatus& status, fleet::Worker::End end) {
  std::string text =
      fmt::format("worker {}: {} done", status.worker, counted(status.done, "chunk"));
  if (status.stolen > 0) text += fmt::format(", {} taken over", status.stolen);
  if (status.twice > 0) text += fmt::format(", {} done twice", status.twice);
  if (status.different > 0) text += fmt::format(", {} of them with other bytes", status.different);
  return text +
         (end == fleet::Worker::End::AllDone ? "; the plan is complete\n" : "; the plan goes on\n");
}

/// One worker, in this process.
int work_alone(const std::string& root, std::optional<milliseconds> time,
               MakeReactor make_reactor) {
  const auto begin = std::chrono::steady_clock::now();
  const FleetPlan plan = FleetPlan::load(root);
  const std::string name = fresh_name();
  const ScratchFolder scratch(files::temp_directory_path(), name);
  files::current_path(scratch.path());
  const TestBinary binary = copied_program(plan, root);
  const fleet::PlanFolder folder(root);
  fleet::Publisher publisher(folder, name + ".files");
  FleetWorkload workload(plan, binary, folder, publisher);
  fleet::WorkerOptions options;
  options.name = name;
  options.lease = plan.lease();
  if (plan.is_open()) options.time = plan.terms().time;
  options.is_over = [&] {
    return interrupts() > 0 || (time && std::chrono::steady_clock::now() - begin >= *time);
  };
  fleet::Worker worker(folder, workload, std::move(options));
  fleet::Worker::End end = fleet::Worker::End::Told;
  Runtime runtime(make_reactor(), {.handle_stop_signals = false});
  runtime.run([&] {
    fleet::patiently([&] { folder.require_links(name); });
    end = worker.run();
  });
  fmt::print("{}", summary(worker.status(), end));
  files::current_path("/");
  return end == fleet::Worker::End::Told && interrupts() > 0 ? kInterrupted : kPass;
}

}  // namespace

int fleet_work_command(const Arguments& arguments, MakeReactor make_reactor) {
  const RunOptions options = run_options(arguments);
  const std::string root = files::absolute(arguments.operands.front()).lexically_normal().string();
  require_names(FleetPlan::load(root));
  count_interrupts();
  if (options.jobs > 1) return work_together(root, options.jobs, options.time);
  return work_alone(root, options.time, make_reactor);
}

}  // namespace fermata::sim::cli
