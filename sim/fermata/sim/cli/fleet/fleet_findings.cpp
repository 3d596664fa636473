// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/fleet/fleet_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/key.hpp"
#include "fermata/sim/base/whole_file.hpp"
#include "fermata/sim/fleet/patience.hpp"

namespace fermata::sim::cli {
namespace {

namespace files = std::filesystem;

/// The files beside `tape` whose names begin as its own; the tape first.
std::vector<std::string> files_of(const std::string& tape) {
  const std::string stem = tape.substr(0, tape.size() - std::string_view(".tape").size());
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : files::directory_iterator(files::path(tape).parent_path(), error)) {
    const std::string path = entry.path().string();
    if (path.starts_with(stem + '.') && entry.is_regular_file()) paths.push_back(path);
  }
  std::sort(paths.begin(), paths.end(), [&](const std::string& a, const std::string& b) {
    return std::pair(a != tape, a) < std::pair(b != tape, b);
  });
  return paths;
}

/// What stands for the output at the end of a report. The first worker's is kept: its name is that
/// of the run.
std::string published_output(const FailureRecord& failure, std::string_view output,
                             const fleet::PlanFolder& folder, fleet::Publisher& publisher) {
  const std::string place = folder_of_signature(failure.signature);
  const std::string directory = folder.root() + '/' + place;
  const std::string name = fmt::format("{:016x}.output", key_of(key_of(failure.test), failure.run));
  fleet::patiently([&] { fleet::make_folder(directory); });
  fleet::patiently([&] { publisher.publish(directory, name, output); });
  return fmt::format("output: {}/{}\n", place, name);
}

}  // namespace

std::string replaced(std::string text, const std::vector<Replacement>& replacements) {
  for (const auto& [from, to] : replacements) {
    FERMATA_ASSERT(!from.empty());
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

std::string folder_of_signature(const std::string& signature) {
  return fmt::format("findings/{:016x}", key_of(signature));
}

std::string without_outputs(std::string_view events, const fleet::PlanFolder& folder,
                            fleet::Publisher& publisher) {
  std::string text;
  while (!events.empty()) {
    const std::string_view line =
        events.substr(0, std::min(events.find('\n'), events.size() - 1) + 1);
    events.remove_prefix(line.size());
    std::vector<FailureRecord> failures = parse_events({std::string(line), {}}).failures;
    const std::size_t at =
        failures.empty() ? std::string::npos : failures.front().report.find(kOutputOfProcess);
    if (at == std::string::npos) {
      text += line;
      continue;
    }
    FailureRecord& failure = failures.front();
    const std::string output = failure.report.substr(at + kOutputOfProcess.size());
    failure.report.resize(at);
    failure.report += published_output(failure, output, folder, publisher);
    text += line_of(failure);
  }
  return text;
}

std::vector<Replacement> publish_files(const FailureRecord& failure,
                                       const fleet::PlanFolder& folder,
                                       fleet::Publisher& publisher) {
  std::vector<Replacement> replacements;
  if (!failure.tape.ends_with(".tape")) return replacements;
  const std::string place = folder_of_signature(failure.signature);
  const std::string directory = folder.root() + '/' + place;
  fleet::patiently([&] { fleet::make_folder(directory); });
  const std::size_t stem = failure.tape.size() - std::string_view("tape").size();
  for (const std::string& path : files_of(failure.tape)) {
    const std::string bytes = replaced(whole_file(path), replacements);
    const std::string name = fmt::format("{:016x}.{}", key_of(bytes), path.substr(stem));
    fleet::patiently([&] { publisher.publish(directory, name, bytes); });
    replacements.push_back({path, place + '/' + name});
  }
  const std::string signature = failure.signature + '\n';
  fleet::patiently([&] { publisher.publish(directory, "signature", signature); });
  return replacements;
}

}  // namespace fermata::sim::cli
