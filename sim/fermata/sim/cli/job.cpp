// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/job.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/program_path.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/run/reproduce.hpp"

namespace fermata::sim::cli {
namespace {

using std::chrono::milliseconds;
using Phase = StatusPage::Phase;

/// Looking closely at a failure takes more than a run does.
constexpr milliseconds kReportLimit(300'000);
constexpr milliseconds kConfirmLimit(10'000);

std::string status_path(const Assignment& assignment) { return assignment.events + ".status"; }

SharedStatus fresh_status(const Assignment& assignment) {
  FERMATA_ASSERT(!assignment.events.empty());
  ::unlink(assignment.events.c_str());
  return SharedStatus::create(status_path(assignment));
}

std::string size_text(std::uint64_t bytes) { return fmt::format("{} MiB", bytes >> 20); }

}  // namespace

Job::Job(const RunOptions& options, const TestBinary& binary, Assignment assignment)
    : options_(options),
      binary_(binary),
      assignment_(std::move(assignment)),
      status_(fresh_status(assignment_)),
      child_(command()) {}

Job::~Job() { ::unlink(status_path(assignment_).c_str()); }

milliseconds Job::age() const {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - started_);
}

ReportedEvents Job::reported() const {
  FERMATA_ASSERT(child_.is_ended());
  return read_events(assignment_.events);
}

void Job::drop() noexcept {
  dropped_ = true;
  child_.kill();
}

Command Job::command() const {
  FERMATA_ASSERT(!assignment_.test.empty());
  Command command = binary_.command_for(assignment_.test);
  command.memory_limit = options_.memory_limit;
  command.settings = settings_of_tests(options_);
  command.settings.emplace_back("FERMATA_INTERNAL_EVENTS", assignment_.events);
  if (!assignment_.tape.empty()) {
    command.settings.emplace_back("FERMATA_REPLAY", assignment_.tape);
    command.settings.emplace_back("FERMATA_REPLAY_MODE", "best");
    return command;
  }
  command.settings.emplace_back("FERMATA_INTERNAL_BOARD", status_path(assignment_));
  command.settings.emplace_back("FERMATA_SEED", seed_text(options_.seed));
  command.settings.emplace_back("FERMATA_RUNS", std::to_string(assignment_.range.runs));
  command.settings.emplace_back("FERMATA_FIRST_RUN", std::to_string(assignment_.range.first));
  const std::uint64_t all = options_.runs == kNoEnd ? 0 : options_.runs;
  command.settings.emplace_back("FERMATA_INTERNAL_ALL_RUNS", std::to_string(all));
  command.settings.emplace_back("FERMATA_KEEP_GOING", options_.keep_going ? "on" : "off");
  return command;
}

void Job::check_for_hang() {
  const std::uint64_t run = status().run.load();
  const Phase phase = status().phase.load();
  const auto now = Clock::now();
  if (run != run_seen_ || phase != phase_seen_) {
    run_seen_ = run;
    phase_seen_ = phase;
    changed_ = now;
  }
  const bool reporting = phase == Phase::Reporting;
  const milliseconds limit =
      reporting ? std::max(kReportLimit, options_.wall_limit) : options_.wall_limit;
  if (hung_ || now - changed_ < limit) return;
  hung_ = true;
  child_.kill();
}

std::string Job::trouble() const {
  FERMATA_ASSERT(child_.is_ended());
  // It has printed why, say a full disk.
  const bool plain = child_.ending().signal == 0 && !hung_;
  if (!plain || status().phase.load() != Phase::Reporting) return {};
  return fmt::format("the process that explored {} could not report its result, and {}:\n{}",
                     assignment_.test, child_.ending().text(), child_.output());
}

std::string Job::how_it_ended() const {
  FERMATA_ASSERT(hung_ || child_.is_ended());
  if (hung_) {
    return fmt::format("a run took longer than {} s of real time (--wall-limit)",
                       static_cast<double>(options_.wall_limit.count()) / 1000.0);
  }
  const Ending& ending = child_.ending();
  std::string text = "the test process " + ending.text();
  if (options_.memory_limit != 0) {
    text += fmt::format(" under a memory limit of {}", size_text(options_.memory_limit));
  } else if (ending.signal == SIGKILL) {
    text += ", as the system does when memory runs out";
  }
  return text;
}

std::string Job::reproduce_line(std::uint64_t run, bool alone) const {
  const std::uint64_t first = alone ? 0 : assignment_.range.first;
  FERMATA_ASSERT(run >= first);
  sim::detail::Settings all = options_.handed_on;
  all.emplace_back("FERMATA_SEED", seed_text(alone ? run_seed(options_.seed, run) : options_.seed));
  all.emplace_back("FERMATA_RUNS", std::to_string(alone ? 1 : run - first + 1));
  if (first != 0) all.emplace_back("FERMATA_FIRST_RUN", std::to_string(first));
  all.emplace_back("FERMATA_STRATEGY", options_.strategy);
  all.emplace_back("FERMATA_FAULTS", options_.faults);
  std::string line;
  for (const auto& [name, value] : all) {
    line += name + '=' + sim::detail::shell_quoted(value) + ' ';
  }
  line += binary_.typed();
  for (const std::string& argument : sim::detail::arguments_for(assignment_.test)) {
    line += ' ' + sim::detail::shell_quoted(argument);
  }
  return line;
}

/// Whether the run needs nothing of those before it: what a strategy has learnt, say.
bool Job::dies_alone(std::uint64_t run) const {
  Command command = binary_.command_for(assignment_.test);
  command.memory_limit = options_.memory_limit;
  command.settings = settings_of_tests(options_);
  const std::string events = assignment_.events + ".alone";
  command.settings.emplace_back("FERMATA_INTERNAL_EVENTS", events);
  command.settings.emplace_back("FERMATA_SEED", seed_text(run_seed(options_.seed, run)));
  command.settings.emplace_back("FERMATA_RUNS", "1");
  Child child(command);
  // What hung has been seen to take longer than the limit.
  const milliseconds limit = hung_ ? options_.wall_limit / 2 : options_.wall_limit;
  const bool ended = run_to_end(child, std::min(limit, kConfirmLimit));
  const bool reported = read_events(events).explored.has_value();
  ::unlink(events.c_str());
  ::unlink((events + ".behaviours").c_str());
  return hung_ ? !ended : ended && !reported && child.ending().signal == child_.ending().signal;
}

RangeResult Job::crash_record(bool is_over) const {
  FERMATA_ASSERT(child_.is_ended());
  const bool begun = status().phase.load() != Phase::Starting;
  const std::uint64_t run = begun ? status().run.load() : assignment_.range.first;
  const bool alone = dies_alone(run);
  const std::string when = !begun ? " before its first run" : is_over ? " after its last run" : "";
  FailureRecord failure;
  failure.test = assignment_.test;
  failure.failure_class = hung_ ? "hang" : "crash";
  failure.message = how_it_ended() + when;
  failure.signature = failure.failure_class + ": " +
                      (hung_ ? std::string("wall limit") : child_.ending().text()) + when;
  failure.run = run;
  failure.first_run = alone ? run : assignment_.range.first;
  failure.seed = seed_text(run_seed(options_.seed, run));
  failure.strategy = options_.strategy;
  failure.reproduce = reproduce_line(run, alone);
  failure.report = fmt::format("{}: {}\n  run {}, seed {}\n  signature  {}\nreproduce: {}\n",
                               failure.failure_class, failure.message, run + 1, failure.seed,
                               failure.signature, failure.reproduce);
  if (const std::string output = child_.output(); !output.empty()) {
    failure.report += kOutputOfProcess;
    failure.report += output + (output.ends_with('\n') ? "" : "\n");
  }
  RangeResult record;
  record.first_run = run;
  record.counts.runs = 1;
  record.counts.failures = 1;
  record.failures.push_back(std::move(failure));
  return record;
}

}  // namespace fermata::sim::cli
