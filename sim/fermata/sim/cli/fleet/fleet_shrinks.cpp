// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/fleet/fleet_shrinks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>
#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/io/file_system.hpp"
#include "fermata/sim/base/key.hpp"
#include "fermata/sim/cli/child.hpp"
#include "fermata/sim/cli/crash_analysis.hpp"
#include "fermata/sim/cli/fleet/fleet_findings.hpp"
#include "fermata/sim/cli/interrupts.hpp"
#include "fermata/sim/fleet/patience.hpp"

namespace fermata::sim::cli {
namespace {

namespace files = std::filesystem;

constexpr std::chrono::minutes kLongest(30);

bool is_better(const FailureRecord& a, const FailureRecord& b) {
  return std::tie(a.steps, a.run) < std::tie(b.steps, b.run);
}

/// The failure as it was found, with what the process that has made it small says of it.
FailureRecord completed(FailureRecord failure, const FailureRecord& closer,
                        const std::string& page) {
  failure.shrunk = closer.shrunk;
  failure.shrunk_tape = closer.shrunk_tape;
  failure.decides = closer.decides;
  if (!closer.histories.empty()) failure.histories = closer.histories;
  failure.report = closer.report;
  if (files::exists(page)) failure.report += "report: " + page + '\n';
  return failure;
}

}  // namespace

fleet::ChunkId shrink_id(const FleetPlan& plan, const FailureRecord& failure) {
  return {key_of(plan.identity(), line_of(failure))};
}

bool wants_shrinking(const FailureRecord& failure, const FleetPlan& plan) {
  const Settings& settings = plan.exploration().options.handed_on;
  const bool is_off = std::any_of(settings.begin(), settings.end(), [](const auto& setting) {
    return setting.first == "FERMATA_SHRINK" && setting.second == "off";
  });
  if (is_off) return false;
  return failure.tape.ends_with(".tape") ||
         wants_crash_analysis(failure, plan.exploration().options);
}

void publish_record(const FailureRecord& failure, const fleet::PlanFolder& folder,
                    fleet::Publisher& publisher) {
  const std::string text = line_of(failure);
  const std::string directory = folder.root() + '/' + folder_of_signature(failure.signature);
  fleet::patiently([&] { fleet::make_folder(directory); });
  fleet::patiently(
      [&] { publisher.publish(directory, fmt::format("{:016x}.json", key_of(text)), text); });
}

std::vector<FailureRecord> best_failures(const fleet::PlanFolder& folder, const FleetPlan& plan) {
  std::map<std::pair<std::string, std::string>, FailureRecord> best;
  for (const DirectoryEntry& signature : fs::list_directory(folder.findings())) {
    const std::string directory = folder.findings() + '/' + signature.name;
    for (const DirectoryEntry& entry : fs::list_directory(directory)) {
      if (!entry.name.ends_with(".json") || entry.name.find(".histories.") != std::string::npos)
        continue;
      for (FailureRecord& failure :
           parse_events({fs::read_file(directory + '/' + entry.name), {}}).failures) {
        if (!plan.has_run(failure.test, failure.run)) continue;
        const auto key = std::pair(failure.test, failure.signature);
        const auto [known, is_first] = best.try_emplace(key, failure);
        if (!is_first && is_better(failure, known->second)) known->second = std::move(failure);
      }
    }
  }
  std::vector<FailureRecord> failures;
  for (auto& [key, failure] : best) failures.push_back(std::move(failure));
  return failures;
}

FailureRecord shrunk(const FailureRecord& failure, const FleetPlan& plan, const TestBinary& binary,
                     const std::string& root, const std::function<void()>& waiting) {
  RunOptions options = plan.exploration().options;
  options.out = "fermata-out";
  if (plan.fuzzes()) options.strategy = failure.strategy;
  options.handed_on.emplace_back("FERMATA_INTERNAL_REPEATABLE", "on");
  const std::string events = options.out + "/events";
  files::create_directories(options.out);
  if (failure.tape.empty()) {
    FailureRecord copy = failure;
    analyse_crash(copy, options, binary, events, kLongest, waiting);
    return copy;
  }
  const std::string tape = options.out + "/found.tape";
  const std::string page = options.out + "/found.shrunk.html";
  files::copy_file(root + '/' + failure.tape, tape, files::copy_options::overwrite_existing);
  Command command = binary.command_for(failure.test);
  command.memory_limit = options.memory_limit;
  for (const auto& setting : options.handed_on) {
    if (setting.first == "FERMATA_NAMES") command.settings.push_back(setting);
  }
  command.settings.emplace_back("FERMATA_OUT", options.out);
  command.settings.emplace_back("FERMATA_INTERNAL_EVENTS", events);
  command.settings.emplace_back("FERMATA_REPLAY", tape);
  command.settings.emplace_back("FERMATA_SHRINK", "on");
  command.settings.emplace_back("FERMATA_EXPLAIN", "on");
  command.settings.emplace_back("FERMATA_REPORT", page);
  Child child(command);
  run_to_end(child, kLongest, [&] {
    waiting();
    return interrupts() > 0;
  });
  const ReportedEvents reported = read_events(events);
  if (!reported.error.empty()) throw Error(fmt::format("{}: {}", failure.test, reported.error));
  if (reported.failures.empty()) return failure;
  return completed(failure, reported.failures.back(), page);
}

}  // namespace fermata::sim::cli
