// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/post_mortem.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "fermata/sim/cli/child.hpp"
#include "fermata/sim/cli/interrupts.hpp"
#include "fermata/sim/run/seed.hpp"

namespace fermata::sim::cli {
namespace {

constexpr std::chrono::milliseconds kLimit(300'000);

Command command_for(const FailureRecord& failure, const RunOptions& options,
                    const TestBinary& binary) {
  const bool alone = failure.first_run == failure.run;
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
  set("FERMATA_POST_MORTEM", fmt::format("{}ms", options.wall_limit.count()));
  return command;
}

/// Before what the process has printed.
void insert(std::string& report, const std::string& text) {
  report.insert(std::min(report.find("output of the process:\n"), report.size()), text);
}

}  // namespace

bool wants_post_mortem(const FailureRecord& failure, const RunOptions& options) {
  const bool died = failure.failure_class == "crash" || failure.failure_class == "hang";
  const bool in_a_run =
      !failure.signature.ends_with("first run") && !failure.signature.ends_with("last run");
  const bool wanted =
      std::none_of(options.handed_on.begin(), options.handed_on.end(), [](const auto& setting) {
        return setting.first == "FERMATA_SHRINK" && setting.second == "off";
      });
  return died && in_a_run && wanted && failure.tape.empty();
}

void make_post_mortem(FailureRecord& failure, const RunOptions& options, const TestBinary& binary,
                      const std::string& scratch) {
  Command command = command_for(failure, options, binary);
  command.settings.emplace_back("FERMATA_EVENTS", scratch);
  Child child(command);
  const bool ended = run_to_end(child, kLimit, [] { return interrupts() > 0; });
  const Told told = read_events(scratch);
  ::unlink(scratch.c_str());
  if (interrupts() > 0) return;
  if (!told.failures.empty() && told.failures.front().signature == failure.signature) {
    const FailureRecord& found = told.failures.front();
    failure.tape = found.tape;
    failure.shrunk = found.shrunk;
    failure.shrunk_tape = found.shrunk_tape;
    insert(failure.report, found.report);
    return;
  }
  const std::string why = !ended                ? "that took too long"
                          : !told.error.empty() ? told.error
                          : told.failures.empty()
                              ? "it did not come back in a process of its own"
                              : "there it was '" + told.failures.front().signature + "'";
  insert(failure.report, "not shrunk: " + why + '\n');
}

}  // namespace fermata::sim::cli
