// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fermata/sim/cli/commands.hpp"
#include "fermata/sim/cli/interrupts.hpp"
#include "fermata/sim/cli/outcome.hpp"
#include "fermata/sim/cli/program_run.hpp"
#include "fermata/sim/cli/verdict.hpp"

namespace fermata::sim::cli {
namespace {

using std::chrono::milliseconds;
using Programs = std::vector<std::unique_ptr<ProgramRun>>;

/// Explores one program after the other; what time one leaves is for those behind it. Returns the
/// outcomes of those that were begun.
std::vector<RunOutcome> explore(const Programs& programs, std::optional<milliseconds> time) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  std::vector<RunOutcome> outcomes;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    std::optional<milliseconds> own;
    milliseconds later{};
    if (time) {
      const auto spent = std::chrono::duration_cast<milliseconds>(Clock::now() - start);
      const milliseconds left = std::max(*time - spent, milliseconds(1));
      own = std::max(left / static_cast<int>(programs.size() - i), milliseconds(1));
      later = left - *own;
    }
    const Exploration::End end = programs[i]->explore(own, later);
    outcomes.push_back(programs[i]->outcome());
    if (end == Exploration::End::Interrupted) break;
  }
  return outcomes;
}

}  // namespace

int run_command(const Arguments& arguments) {
  const RunOptions options = run_options(arguments);
  std::vector<std::unique_ptr<TestBinary>> binaries;
  check_reports(options.json, options.junit);
  const Programs programs = prepare_programs(options, arguments.operands, binaries);
  count_interrupts();
  const std::vector<RunOutcome> outcomes = explore(programs, options.time);
  fmt::print("{}", statistics_text(outcomes));
  write_reports(outcomes, options.json, options.junit);
  if (outcomes.back().interrupted) {
    const std::string place =
        programs.size() == 1 ? programs.front()->folder().path() : options.out;
    fmt::print("interrupted: the same command resumes from {}\n", place);
    return kInterrupted;
  }
  for (const auto& program : programs) program->complete();
  return exit_code_of(outcomes);
}

}  // namespace fermata::sim::cli
