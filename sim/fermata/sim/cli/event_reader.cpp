// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/event_reader.hpp"

#include <algorithm>
#include <string_view>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/json.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/base/whole_file.hpp"
#include "fermata/sim/record/catalogue_json.hpp"

namespace fermata::sim::cli {
namespace {

std::uint64_t number_at(const Json& line, const char* name) {
  return line.value(name, std::uint64_t{0});
}
std::string text(const Json& line, const char* name) { return line.value(name, std::string()); }

FailureRecord failure_of(const Json& line) {
  return {.test = text(line, "test"),
          .failure_class = text(line, "class"),
          .message = text(line, "message"),
          .signature = text(line, "signature"),
          .run = number_at(line, "run"),
          .first_run = number_at(line, "first_run"),
          .seed = text(line, "seed"),
          .strategy = text(line, "strategy"),
          .steps = number_at(line, "steps"),
          .reproduce = text(line, "reproduce"),
          .tape = text(line, "tape"),
          .histories = text(line, "histories"),
          .shrunk = text(line, "shrunk"),
          .shrunk_tape = text(line, "shrunk_tape"),
          .decides = text(line, "decides"),
          .report = text(line, "report")};
}

DistinctRuns behaviours_of(std::string_view bytes, unsigned level) {
  std::vector<std::uint64_t> entries(bytes.size() / sizeof(std::uint64_t));
  std::copy_n(bytes.data(), entries.size() * sizeof(std::uint64_t),
              reinterpret_cast<char*>(entries.data()));
  return DistinctRuns::restore(level, entries);
}

RangeResult range_result_of(const Json& line, std::string_view behaviours) {
  RangeResult record;
  record.first_run = number_at(line, "first_run");
  record.counts.runs = number_at(line, "runs");
  record.counts.skipped = number_at(line, "skipped");
  record.counts.failures = number_at(line, "failures");
  record.counts.limit_stops = number_at(line, "limit_stops");
  record.counts.steps = number_at(line, "steps");
  record.counts.steps_min = number_at(line, "steps_min");
  record.counts.steps_max = number_at(line, "steps_max");
  record.counts.draws = number_at(line, "draws");
  record.counts.virtual_ns = number_at(line, "virtual_ns");
  record.counts.determinism_checks = number_at(line, "determinism_checks");
  record.counts.faults = line.value("faults", std::map<std::string, std::uint64_t>());
  record.trace_hash = parse_seed(line.value("trace_hash", "0x0"));
  for (const Json& one : line.value("longest", Json::array())) {
    record.longest.push_back({number_at(one, "run"), text(one, "seed"), number_at(one, "steps")});
  }
  const Json shares = line.value("shares", Json::object());
  for (const auto& [name, share] : shares.items()) {
    record.counts.shares[name] = {number_at(share, "runs"), number_at(share, "new_runs"),
                                  number_at(share, "failures")};
  }
  record.assertions = catalogue_of(line.value("assertions", Json::array()));
  record.coverage = text(line, "coverage");
  record.first_world = text(line, "first_world");
  record.skip_reason = text(line, "skip_reason");
  const auto level = static_cast<unsigned>(number_at(line, "behaviours_level"));
  record.behaviours = behaviours_of(behaviours, level);
  return record;
}

void take(const Json& line, std::string_view behaviours, ReportedEvents& reported) {
  const std::string event = text(line, "event");
  if (event == "failure") {
    reported.failures.push_back(failure_of(line));
  } else if (event == "error") {
    reported.error = text(line, "message");
  } else if (event == "explored") {
    reported.explored = range_result_of(line, behaviours);
  } else if (event == "replayed") {
    reported.replayed = ReplayResult{.tape = text(line, "tape"),
                                     .summary = text(line, "summary"),
                                     .matched = number_at(line, "matched"),
                                     .decisions = number_at(line, "decisions"),
                                     .failures = {}};
  }
}

/// Calls `use` for each line of `events`; anything but an object is left out.
template <class Use>
void for_each_event(std::string_view events, Use use) {
  while (!events.empty()) {
    const std::size_t end = std::min(events.find('\n'), events.size());
    Json line = Json::parse(events.substr(0, end), nullptr, false);
    if (line.is_object()) use(line);
    events.remove_prefix(std::min(end + 1, events.size()));
  }
}

}  // namespace

Json json_of(const FailureRecord& failure) {
  Json line = {{"event", "failure"},
               {"test", failure.test},
               {"class", failure.failure_class},
               {"message", failure.message},
               {"signature", failure.signature},
               {"run", failure.run},
               {"seed", failure.seed},
               {"strategy", failure.strategy},
               {"steps", failure.steps},
               {"reproduce", failure.reproduce},
               {"tape", failure.tape}};
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) line[name] = text;
  };
  if (failure.first_run != 0) line["first_run"] = failure.first_run;
  add("histories", failure.histories);
  add("shrunk", failure.shrunk);
  add("shrunk_tape", failure.shrunk_tape);
  add("decides", failure.decides);
  line["report"] = failure.report;
  return line;
}

std::string line_of(const FailureRecord& failure) { return json_text(json_of(failure)) + '\n'; }

std::string explored_line(const std::string& test, const RangeResult& record) {
  FERMATA_ASSERT(record.counts.failures <= record.counts.runs);
  return json_text({{"event", "explored"},
                    {"test", test},
                    {"first_run", record.first_run},
                    {"runs", record.counts.runs},
                    {"failures", record.counts.failures}}) +
         '\n';
}

void Share::add(const Share& other) noexcept {
  runs += other.runs;
  new_runs += other.new_runs;
  failures += other.failures;
}

void Counts::add(const Counts& other) {
  if (other.runs == 0) return;
  // Of a run that has crashed nobody knows them.
  if (other.steps > 0)
    steps_min = steps == 0 ? other.steps_min : std::min(steps_min, other.steps_min);
  steps_max = std::max(steps_max, other.steps_max);
  runs += other.runs;
  skipped += other.skipped;
  failures += other.failures;
  limit_stops += other.limit_stops;
  steps += other.steps;
  draws += other.draws;
  virtual_ns += other.virtual_ns;
  determinism_checks += other.determinism_checks;
  for (const auto& [kind, count] : other.faults) faults[kind] += count;
  for (const auto& [strategy, share] : other.shares) shares[strategy].add(share);
}

EventFiles event_files(const std::string& path) {
  return {whole_file(path), whole_file(path + ".behaviours")};
}

ReportedEvents read_events(const std::string& path) { return parse_events(event_files(path)); }

ReportedEvents parse_events(const EventFiles& files) {
  ReportedEvents reported;
  for_each_event(files.events, [&](const Json& line) { take(line, files.behaviours, reported); });
  if (reported.explored) reported.explored->failures = reported.failures;
  if (reported.replayed) reported.replayed->failures = reported.failures;
  return reported;
}

EventFiles renumbered(EventFiles files, std::uint64_t first) {
  std::string events;
  for_each_event(files.events, [&](Json& line) {
    line["first_run"] = number_at(line, "first_run") + first;
    if (line.contains("run")) line["run"] = number_at(line, "run") + first;
    line.erase("longest");  // They are found by their seeds, which are not those of that run.
    events += json_text(line) + '\n';
  });
  files.events = std::move(events);
  return files;
}

void write_crash(const std::string& path, const RangeResult& record) {
  FERMATA_ASSERT(!record.failures.empty());
  const FailureRecord& failure = record.failures.front();
  write_whole_file(path, line_of(failure) + explored_line(failure.test, record));
}

void append_failure(const std::string& path, const FailureRecord& failure) {
  FERMATA_ASSERT(!failure.signature.empty());
  write_whole_file(path, whole_file(path) + line_of(failure));
}

void thin_out(const std::string& path, const RangeResult& record, unsigned level) {
  if (record.behaviours.level() >= level) return;
  DistinctRuns kept = DistinctRuns::restore(level, {});
  kept.add(record.behaviours);
  const std::vector<std::uint64_t> entries = kept.entries();
  write_whole_file(path + ".behaviours", {reinterpret_cast<const char*>(entries.data()),
                                          entries.size() * sizeof(std::uint64_t)});
}

}  // namespace fermata::sim::cli
