// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/record.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "fermata/runtime/base/error.hpp"
#include "fermata/sim/run/json_line.hpp"
#include "fermata/sim/run/seed.hpp"

namespace fermata::sim::cli {
namespace {

using Json = nlohmann::json;

std::uint64_t number(const Json& line, const char* name) {
  return line.value(name, std::uint64_t{0});
}
std::string text(const Json& line, const char* name) { return line.value(name, std::string()); }

FailureRecord failure_of(const Json& line) {
  return {.test = text(line, "test"),
          .failure_class = text(line, "class"),
          .message = text(line, "message"),
          .signature = text(line, "signature"),
          .run = number(line, "run"),
          .seed = text(line, "seed"),
          .strategy = text(line, "strategy"),
          .steps = number(line, "steps"),
          .reproduce = text(line, "reproduce"),
          .tape = text(line, "tape"),
          .report = text(line, "report")};
}

Behaviours behaviours_of(const std::string& path, unsigned level) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::uint64_t> entries(bytes.size() / sizeof(std::uint64_t));
  std::copy_n(bytes.data(), entries.size() * sizeof(std::uint64_t),
              reinterpret_cast<char*>(entries.data()));
  return Behaviours::restore(level, entries);
}

PieceRecord piece_of(const Json& line, const std::string& path) {
  PieceRecord record;
  record.first_run = number(line, "first_run");
  record.counts.runs = number(line, "runs");
  record.counts.failures = number(line, "failures");
  record.counts.limit_stops = number(line, "limit_stops");
  record.counts.steps = number(line, "steps");
  record.counts.steps_min = number(line, "steps_min");
  record.counts.steps_max = number(line, "steps_max");
  record.counts.draws = number(line, "draws");
  record.counts.virtual_ns = number(line, "virtual_ns");
  record.counts.determinism_checks = number(line, "determinism_checks");
  record.counts.faults = line.value("faults", std::map<std::string, std::uint64_t>());
  record.trace_hash = parse_seed(line.value("trace_hash", "0x0"));
  for (const Json& one : line.value("longest", Json::array())) {
    record.longest.push_back({number(one, "run"), text(one, "seed"), number(one, "steps")});
  }
  for (const Json& claim : line.value("assertions", Json::array())) {
    record.assertions.add_json(claim);
  }
  record.coverage = text(line, "coverage");
  const auto level = static_cast<unsigned>(number(line, "behaviours_level"));
  record.behaviours = behaviours_of(path + ".behaviours", level);
  return record;
}

void take(const Json& line, const std::string& path, Told& told) {
  const std::string event = text(line, "event");
  if (event == "failure") {
    told.failures.push_back(failure_of(line));
  } else if (event == "error") {
    told.error = text(line, "message");
  } else if (event == "explored") {
    told.explored = piece_of(line, path);
  } else if (event == "replayed") {
    told.replayed = ReplayRecord{.tape = text(line, "tape"),
                                 .summary = text(line, "summary"),
                                 .matched = number(line, "matched"),
                                 .decisions = number(line, "decisions"),
                                 .failures = {}};
  }
}

}  // namespace

void Counts::add(const Counts& other) {
  if (other.runs == 0) return;
  steps_min = runs == 0 ? other.steps_min : std::min(steps_min, other.steps_min);
  steps_max = std::max(steps_max, other.steps_max);
  runs += other.runs;
  failures += other.failures;
  limit_stops += other.limit_stops;
  steps += other.steps;
  draws += other.draws;
  virtual_ns += other.virtual_ns;
  determinism_checks += other.determinism_checks;
  for (const auto& [kind, count] : other.faults) faults[kind] += count;
}

Told read_events(const std::string& path) {
  Told told;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const Json parsed = Json::parse(line, nullptr, false);
    if (parsed.is_object()) take(parsed, path, told);
  }
  if (told.explored) told.explored->failures = told.failures;
  if (told.replayed) told.replayed->failures = told.failures;
  return told;
}

void write_crash(const std::string& path, const PieceRecord& record) {
  const FailureRecord& failure = record.failures.front();
  JsonLine first;
  first.add("event", "failure")
      .add("test", failure.test)
      .add("class", failure.failure_class)
      .add("message", failure.message)
      .add("signature", failure.signature)
      .add("run", failure.run)
      .add("seed", failure.seed)
      .add("strategy", failure.strategy)
      .add("reproduce", failure.reproduce)
      .add("report", failure.report);
  JsonLine last;
  last.add("event", "explored")
      .add("test", failure.test)
      .add("first_run", record.first_run)
      .add("runs", record.counts.runs)
      .add("failures", record.counts.failures);
  std::ofstream file(path, std::ios::trunc);
  file << first.text() << '\n' << last.text() << '\n' << std::flush;
  if (!file) throw InputOutputError("cannot write " + path, errno);
}

void thin_out(const std::string& path, const PieceRecord& record, unsigned level) {
  if (record.behaviours.level() >= level) return;
  Behaviours kept = Behaviours::restore(level, {});
  kept.add(record.behaviours);
  const std::vector<std::uint64_t> entries = kept.entries();
  std::ofstream file(path + ".behaviours", std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(entries.data()),
             static_cast<std::streamsize>(entries.size() * sizeof(std::uint64_t)));
}

}  // namespace fermata::sim::cli
