// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/crash_analysis.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/cli/child.hpp"
#include "fermata/sim/cli/interrupts.hpp"

namespace fermata::sim::cli {
namespace {

/// Whether the run needs nothing of those before it.
bool dies_alone(const FailureRecord& failure) { return failure.first_run == failure.run; }

Command command_for(const FailureRecord& failure, const RunOptions& options,
                    const TestBinary& binary) {
  FERMATA_ASSERT(failure.run >= failure.first_run);
  const bool alone = dies_alone(failure);
  Command command = binary.command_for(failure.test);
  command.memory_limit = options.memory_limit;
  command.settings = settings_of_tests(options);
  const auto set = [&](const char* name, std::string value) {
    command.settings.emplace_back(name, std::move(value));
  };
  set("FERMATA_SEED", alone ? failure.seed : seed_text(options.seed));
  set("FERMATA_RUNS", std::to_string(failure.run - failure.first_run + 1));
  if (!alone) set("FERMATA_FIRST_RUN", std::to_string(failure.first_run));
  set("FERMATA_KEEP_GOING", options.keep_going ? "on" : "off");
  set("FERMATA_INTERNAL_POST_MORTEM", fmt::format("{}ms", options.wall_limit.count()));
  return command;
}

/// Before what the process has printed.
void insert(std::string& report, const std::string& text) {
  report.insert(std::min(report.find(kOutputOfProcess), report.size()), text);
}

}  // namespace

bool wants_crash_analysis(const FailureRecord& failure, const RunOptions& options) {
  const bool died = failure.failure_class == "crash" || failure.failure_class == "hang";
  const bool in_a_run =
      !failure.signature.ends_with("first run") && !failure.signature.ends_with("last run");
  const bool wanted =
      std::none_of(options.handed_on.begin(), options.handed_on.end(), [](const auto& setting) {
        return setting.first == "FERMATA_SHRINK" && setting.second == "off";
      });
  return died && in_a_run && wanted && failure.tape.empty();
}

// With the limit of the search, which is shorter, this is for a process that does not end by
// itself.
std::chrono::milliseconds crash_analysis_limit(const FailureRecord& failure,
                                               const RunOptions& options) {
  constexpr std::chrono::seconds kToStartAndToLookUpNames(5);
  if (failure.failure_class == "hang") {
    return options.wall_limit * 5 / 2 + kToStartAndToLookUpNames;
  }
  return std::chrono::seconds(dies_alone(failure) ? 15 : 60);
}

void analyse_crash(FailureRecord& failure, const RunOptions& options, const TestBinary& binary,
                   const std::string& scratch, std::chrono::milliseconds limit,
                   const std::function<void()>& waiting) {
  FERMATA_ASSERT(!scratch.empty());
  FERMATA_ASSERT(waiting != nullptr);
  Command command = command_for(failure, options, binary);
  command.settings.emplace_back("FERMATA_INTERNAL_EVENTS", scratch);
  Child child(command);
  const bool ended = run_to_end(child, limit, [&] {
    waiting();
    return interrupts() > 0;
  });
  const ReportedEvents reported = read_events(scratch);
  ::unlink(scratch.c_str());
  if (interrupts() > 0) return;
  // The last one knows most.
  if (!reported.failures.empty() && reported.failures.back().signature == failure.signature) {
    const FailureRecord& found = reported.failures.back();
    failure.tape = found.tape;
    failure.shrunk = found.shrunk;
    failure.shrunk_tape = found.shrunk_tape;
    insert(failure.report, found.report);
    return;
  }
  const std::string_view missing =
      dies_alone(failure) ? "it came back only once" : "it did not come back in two tries";
  const std::string why = !ended                    ? "that took too long"
                          : !reported.error.empty() ? reported.error
                          : reported.failures.empty()
                              ? fmt::format(
                                    "{}; it depends on more than its seed, such as memory "
                                    "that was freed (AddressSanitizer may name it)",
                                    missing)
                              : "there it was '" + reported.failures.back().signature + "'";
  insert(failure.report, "not shrunk: " + why + '\n');
}

}  // namespace fermata::sim::cli
