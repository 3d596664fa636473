// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/events.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "fermata/runtime/base/error.hpp"
#include "fermata/sim/run/json_line.hpp"
#include "fermata/sim/run/seed.hpp"

namespace fermata::sim::detail {
namespace {

void append(const std::string& path, std::string_view bytes) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) throw InputOutputError("cannot write " + path, errno);
  int error = 0;
  while (!bytes.empty() && error == 0) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  ::close(file);
  if (error != 0) throw InputOutputError("cannot write " + path, error);
}

JsonLine faults_of(const FaultCounts& counts) {
  JsonLine faults;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) faults.add(to_string(static_cast<Fault>(i)), counts[i]);
  }
  return faults;
}

std::vector<JsonLine> longest_of(const ExploreOptions& options, const ExploreResult& result) {
  std::vector<JsonLine> all;
  for (const LongRun& one : result.longest) {
    if (one.steps == 0) break;
    all.push_back(JsonLine()
                      .add("run", one.run)
                      .add("seed", seed_text(run_seed(options.seed, one.run)))
                      .add("steps", one.steps));
  }
  return all;
}

void add_to(JsonLine& line, const Shrunk& shrunk, std::string_view tape_path) {
  line.add("shrunk", shrunk.summary())
      .add("shrunk_decisions", std::uint64_t{shrunk.found.tape.decisions.size()})
      .add("shrunk_tape", tape_path);
}

/// What decides, and who was suspended where just then.
void add_to(JsonLine& line, const Explanation& explanation) {
  line.add("decides", explanation.verdict);
  std::vector<JsonLine> pair;
  for (const std::optional<Party>& party : {explanation.first, explanation.second}) {
    if (!party) continue;
    pair.push_back(JsonLine().add("coroutine", party->coroutine).add("place", party->place));
  }
  line.add("pair", pair);
}

}  // namespace

void Events::write(std::string line) const {
  if (!path_.empty()) append(path_, line + '\n');
}

void Events::failure(const FoundFailure& found, const ReportContext& context,
                     std::string_view report) const {
  JsonLine line;
  line.add("event", "failure")
      .add("test", found.tape.test)
      .add("class", to_string(found.failure.verdict))
      .add("message", found.failure.message)
      .add("signature", found.failure.signature())
      .add("run", found.run)
      .add("seed", seed_text(found.tape.seed))
      .add("strategy", found.tape.strategy)
      .add("steps", found.steps)
      .add("virtual_ns", static_cast<std::uint64_t>(found.end.nanoseconds))
      .add("trace_hash", seed_text(found.tape.trace_hash))
      .add("reproduce", context.reproduce)
      .add("tape", context.tape_path);
  if (context.shrunk) add_to(line, *context.shrunk, context.shrunk_tape_path);
  if (context.explanation) add_to(line, *context.explanation);
  write(line.add("report", report).text());
}

void Events::replayed(std::string_view tape, std::string_view summary, std::uint64_t matched,
                      std::uint64_t decisions) const {
  write(JsonLine()
            .add("event", "replayed")
            .add("tape", tape)
            .add("summary", summary)
            .add("matched", matched)
            .add("decisions", decisions)
            .text());
}

void Events::error(std::string_view message) const {
  write(JsonLine().add("event", "error").add("message", message).text());
}

void Events::explored(const ExploreOptions& options, const ExploreResult& result) const {
  if (path_.empty()) return;
  write_behaviours(result.behaviours);
  write(JsonLine()
            .add("event", "explored")
            .add("test", options.name)
            .add("first_run", options.first_run)
            .add("runs", result.runs)
            .add("failures", result.failures)
            .add("limit_stops", result.limit_stops)
            .add("steps", result.steps)
            .add("steps_min", result.steps_min)
            .add("steps_max", result.steps_max)
            .add("draws", result.draws)
            .add("virtual_ns", static_cast<std::uint64_t>(result.virtual_time.count()))
            .add("determinism_checks", result.determinism_checks)
            .add("trace_hash", seed_text(result.trace_hash))
            .add("faults", faults_of(result.fault_counts))
            .add("coverage", result.coverage)
            .add("assertions", result.catalogue.to_json())
            .add("longest", longest_of(options, result))
            .add("behaviours_level", std::uint64_t{result.behaviours.level()})
            .text());
}

void Events::write_behaviours(const Behaviours& behaviours) const {
  const std::vector<std::uint64_t> entries = behaviours.entries();
  const std::string path = path_ + ".behaviours";
  ::unlink(path.c_str());
  append(path, {reinterpret_cast<const char*>(entries.data()), entries.size() * sizeof entries[0]});
}

}  // namespace fermata::sim::detail
