// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/event_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/json.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/record/catalogue_json.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::sim::detail {
namespace {

void append(const std::string& path, std::string_view bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) throw InputOutputError("cannot write " + path, errno);
  int error = 0;
  while (!bytes.empty() && error == 0) {
    const ssize_t written = os::kernel.write(file, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  os::kernel.close(file);
  if (error != 0) throw InputOutputError("cannot write " + path, error);
}

Json faults_of(const FaultCounts& counts) {
  Json faults = Json::object();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) faults[std::string(to_string(static_cast<Fault>(i)))] = counts[i];
  }
  return faults;
}

Json longest_of(const ExploreOptions& options, const ExploreResult& result) {
  Json all = Json::array();
  for (const LongRun& one : result.longest) {
    if (one.steps == 0) break;
    all.push_back({{"run", one.run},
                   {"seed", seed_text(run_seed(options.seed, one.run))},
                   {"steps", one.steps}});
  }
  return all;
}

Json shares_of(const ExploreResult& result) {
  Json all = Json::object();
  for (const StrategyShare& share : result.shares) {
    all[share.name] = {
        {"runs", share.runs}, {"new_runs", share.new_runs}, {"failures", share.failures}};
  }
  return all;
}

Json lines_of(std::string_view text) {
  Json lines = Json::array();
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(std::string(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// What decides, and who was suspended where just then.
void add_to(Json& line, const Explanation& explanation) {
  line["decides"] = explanation.verdict;
  Json& pair = line["pair"] = Json::array();
  for (const std::optional<Party>& party : {explanation.first, explanation.second}) {
    if (party) pair.push_back({{"coroutine", party->coroutine}, {"place", party->place}});
  }
}

}  // namespace

void EventWriter::write(std::string_view line) const {
  FERMATA_ASSERT(line.find('\n') == std::string_view::npos);
  if (!path_.empty()) append(path_, std::string(line) + '\n');
}

void EventWriter::failure(const FoundFailure& found, const ReportContext& context,
                          std::string_view report) const {
  Json line = {{"event", "failure"},
               {"test", found.tape.test},
               {"class", found.failure_class()},
               {"message", found.failure.message},
               {"signature", found.signature()},
               {"run", found.run},
               {"seed", seed_text(found.tape.seed)},
               {"strategy", found.tape.strategy},
               {"steps", found.steps},
               {"virtual_ns", found.end.nanoseconds},
               {"trace_hash", seed_text(found.tape.trace_hash)},
               {"reproduce", context.reproduce},
               {"tape", context.tape_path}};
  if (!context.histories_path.empty()) line["histories"] = context.histories_path;
  if (context.shrunk) {
    line["shrunk"] = context.shrunk->summary();
    line["shrunk_decisions"] = count_shown(context.shrunk->found.tape);
    line["shrunk_tape"] = context.shrunk_tape_path;
  } else if (!context.not_shrunk.empty()) {
    line["shrunk"] = "not shrunk: " + context.not_shrunk;
  }
  const std::string& faults = context.shrunk ? context.shrunk->found.faults : found.faults;
  if (!faults.empty()) line["faults"] = lines_of(faults);
  if (context.explanation) add_to(line, *context.explanation);
  line["report"] = report;
  write(json_text(line));
}

void EventWriter::replayed(std::string_view tape, std::string_view summary, std::uint64_t matched,
                           std::uint64_t decisions) const {
  write(json_text({{"event", "replayed"},
                   {"tape", tape},
                   {"summary", summary},
                   {"matched", matched},
                   {"decisions", decisions}}));
}

void EventWriter::error(std::string_view message) const {
  write(json_text({{"event", "error"}, {"message", message}}));
}

void EventWriter::explored(const ExploreOptions& options, const ExploreResult& result) const {
  if (path_.empty()) return;
  FERMATA_ASSERT(result.failures <= result.runs);
  FERMATA_ASSERT(result.limit_stops <= result.failures);
  FERMATA_ASSERT(result.skipped <= result.runs);
  write_behaviours(result.behaviours);
  write(json_text({{"event", "explored"},
                   {"test", options.name},
                   {"first_run", options.first_run},
                   {"runs", result.runs},
                   {"skipped", result.skipped},
                   {"skip_reason", result.skip_reason},
                   {"failures", result.failures},
                   {"limit_stops", result.limit_stops},
                   {"steps", result.steps},
                   {"steps_min", result.steps_min},
                   {"steps_max", result.steps_max},
                   {"draws", result.draws},
                   {"virtual_ns", result.virtual_time.count()},
                   {"determinism_checks", result.determinism_checks},
                   {"trace_hash", seed_text(result.trace_hash)},
                   {"faults", faults_of(result.fault_counts)},
                   {"first_world", result.first_world},
                   {"coverage", result.coverage},
                   {"shares", shares_of(result)},
                   {"assertions", json_of(result.catalogue)},
                   {"longest", longest_of(options, result)},
                   {"behaviours_level", result.behaviours.level()}}));
}

void EventWriter::write_behaviours(const DistinctRuns& behaviours) const {
  FERMATA_ASSERT(!path_.empty());
  const std::vector<std::uint64_t> entries = behaviours.entries();
  const std::string path = path_ + ".behaviours";
  ::unlink(path.c_str());
  append(path, {reinterpret_cast<const char*>(entries.data()), entries.size() * sizeof entries[0]});
}

}  // namespace fermata::sim::detail
