// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/fleet/fuzz_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/key.hpp"
#include "fermata/sim/base/whole_file.hpp"
#include "fermata/sim/cli/child.hpp"
#include "fermata/sim/cli/interrupts.hpp"

namespace fermata::sim::cli {
namespace {

namespace files = std::filesystem;

constexpr std::chrono::hours kLongestFuzzing(24);

/// Leaks are looked for by the simulator, after each run.
std::string sanitizer_options() {
  const char* const given = std::getenv("ASAN_OPTIONS");
  return given == nullptr || *given == '\0' ? "detect_leaks=0"
                                            : std::string(given) + ":detect_leaks=0";
}

Command command_for(const FuzzedProgram& program, const std::string& test,
                    std::vector<std::string> arguments) {
  const RunOptions& options = program.options;
  const auto seconds =
      std::chrono::ceil<std::chrono::seconds>(options.wall_limit + std::chrono::milliseconds(1));
  Command command{.program = program.binary.path(),
                  .arguments = std::move(arguments),
                  .settings = options.handed_on,
                  .memory_limit = options.memory_limit};
  command.settings.emplace_back("FERMATA_FAULTS", options.faults);
  command.settings.emplace_back("FERMATA_FUZZ", test);
  command.settings.emplace_back("ASAN_OPTIONS", sanitizer_options());
  command.arguments.insert(command.arguments.begin(),
                           {fmt::format("-timeout={}", seconds.count()), "-rss_limit_mb=0",
                            "-detect_leaks=0", "-report_slow_units=1000000", "-print_funcs=0"});
  return command;
}

/// Runs it to its end. Returns false when an interrupt has ended it.
bool run_to_end(const FuzzedProgram& program, Child& child) {
  cli::run_to_end(child, kLongestFuzzing, [&] {
    program.waiting();
    return interrupts() > 0;
  });
  return interrupts() == 0;
}

[[noreturn]] void refuse(const std::string& test, const Child& child) {
  throw Error(
      fmt::format("{}: the program has not fuzzed it, and {}; expected one that is linked with "
                  "fermata::libfuzzer_main (docs/guide/fuzzing.md):\n{}",
                  test, child.ending().text(), child.output()));
}

void write_inputs(const Inputs& inputs, const std::string& folder) {
  files::create_directories(folder);
  for (const auto& [name, bytes] : inputs) write_whole_file(folder + '/' + name, bytes);
}

Inputs inputs_in(const std::string& folder) {
  Inputs inputs;
  for (const auto& entry : files::directory_iterator(folder)) {
    std::string bytes = whole_file(entry.path().string());
    std::string name = name_of_input(bytes);
    inputs.emplace(std::move(name), std::move(bytes));
  }
  return inputs;
}

/// The number behind `name` in what libFuzzer prints at its end.
std::uint64_t statistic(const std::string& output, std::string_view name) {
  std::size_t at = output.rfind(fmt::format("stat::{}:", name));
  if (at == std::string::npos) return 0;
  at = output.find_first_of("0123456789", at);
  std::uint64_t value = 0;
  if (at != std::string::npos)
    std::from_chars(output.data() + at, output.data() + output.size(), value);
  return value;
}

/// Where the events of failures end: the last event is what all runs came to.
std::size_t end_of_failures(std::string_view events) {
  const std::size_t explored = events.rfind("{\"event\":\"explored\"");
  return std::min(explored, events.size());
}

/// What libFuzzer has written of the input that failed: `failing-crash-HASH`, say.
std::optional<std::string> artifact_in(const std::string& folder) {
  for (const auto& entry : files::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with("failing-"))
      return whole_file(entry.path().string());
  }
  return std::nullopt;
}

// libFuzzer decides between inputs of the same size by the order in which it meets them; that is
// the order of its arguments for folders with one input each, and the disk's for one folder.
std::optional<Inputs> merged_at_once(const FuzzedProgram& program, const std::string& test,
                                     const Inputs& inputs, const std::string& folder) {
  files::remove_all(folder);
  files::create_directories(folder + "/kept");
  std::vector<std::string> arguments = {
      "-merge=1", fmt::format("-merge_control_file={}/control", folder), folder + "/kept"};
  for (const auto& one : inputs) {
    arguments.push_back(folder + '/' + one.first);
    write_inputs({one}, arguments.back());
  }
  Child child(command_for(program, test, std::move(arguments)));
  if (!run_to_end(program, child)) return std::nullopt;
  if (child.ending().code != 0) refuse(test, child);
  Inputs kept = inputs_in(folder + "/kept");
  for (const auto& [name, bytes] : kept) FERMATA_ASSERT(inputs.contains(name));
  return kept;
}

}  // namespace

std::string name_of_input(std::string_view bytes) { return fmt::format("{:016x}", key_of(bytes)); }

std::optional<Fuzzed> fuzz(const FuzzedProgram& program, const std::string& test,
                           const Inputs& corpus, const Fuzzing& fuzzing,
                           const std::string& folder) {
  FERMATA_ASSERT(fuzzing.inputs > 0);
  files::remove_all(folder);
  files::create_directories(folder + "/fresh");
  write_inputs(corpus, folder + "/corpus");
  std::string list;
  for (const auto& [name, bytes] : corpus) {
    list += fmt::format("{}{}/corpus/{}", list.empty() ? "" : ",", folder, name);
  }
  const std::uint64_t given = corpus.size() + 1;  // It tries the empty input as well.
  std::vector<std::string> arguments = {
      fmt::format("-seed={}", 1 + mix(fuzzing.seed) % 0xffff'ffff),  // 0: of the clock.
      fmt::format("-runs={}", given + fuzzing.inputs), "-reload=0", "-print_final_stats=1",
      fmt::format("-artifact_prefix={}/failing-", folder)};
  if (!corpus.empty()) {
    write_whole_file(folder + "/list", list);
    arguments.push_back(fmt::format("-seed_inputs=@{}/list", folder));
  }
  arguments.push_back(folder + "/fresh");
  Command command = command_for(program, test, std::move(arguments));
  const std::string events = folder + "/events";
  command.settings.emplace_back("FERMATA_INTERNAL_EVENTS", events);
  command.settings.emplace_back("FERMATA_OUT", folder + "/out");
  Child child(command);
  if (!run_to_end(program, child)) return std::nullopt;

  Fuzzed fuzzed;
  fuzzed.passed = event_files(events);
  fuzzed.failing = artifact_in(folder);
  const ReportedEvents reported = parse_events(fuzzed.passed);
  // What it tells of the failure is told better by an exploration of that run.
  fuzzed.passed.events.erase(0, end_of_failures(fuzzed.passed.events));
  if (!reported.error.empty()) throw Error(fmt::format("{}: {}", test, reported.error));
  if (!reported.explored && !fuzzed.failing) refuse(test, child);
  const std::uint64_t all = statistic(child.output(), "number_of_executed_units");
  fuzzed.tried = std::clamp(all, given, given + fuzzing.inputs) - given;
  fuzzed.fresh = inputs_in(folder + "/fresh");
  if (fuzzed.failing) fuzzed.fresh.erase(name_of_input(*fuzzed.failing));
  return fuzzed;
}

std::optional<Inputs> merged(const FuzzedProgram& program, const std::string& test,
                             const Inputs& inputs, const std::string& folder) {
  constexpr std::size_t kAtOnce = 2'000;  // A command line has room for some more.
  Inputs kept;
  for (auto next = inputs.begin(); next != inputs.end();) {
    Inputs some = std::move(kept);
    for (std::size_t i = 0; i < kAtOnce && next != inputs.end(); ++i) some.insert(*next++);
    std::optional<Inputs> of_them = merged_at_once(program, test, some, folder);
    if (!of_them) return std::nullopt;
    kept = std::move(*of_them);
  }
  return kept;
}

}  // namespace fermata::sim::cli
