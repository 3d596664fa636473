// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/exploration.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/cli/corpus.hpp"
#include "fermata/sim/cli/crash_analysis.hpp"
#include "fermata/sim/cli/interrupts.hpp"

namespace fermata::sim::cli {
namespace {

using std::chrono::milliseconds;

constexpr int kTick_ms = 50;
/// How long processes may take to end their runs when all is to end.
constexpr milliseconds kGrace(5'000);

}  // namespace

Exploration::Exploration(const RunOptions& options, const TestBinary& binary,
                         const ResultFolder& folder, const std::vector<std::string>& tests,
                         Listener listener)
    : options_(options), binary_(binary), folder_(folder), listener_(std::move(listener)) {
  for (const std::string& name : tests) tests_.emplace_back(name, tests_.size(), options_);
  states_.resize(tests_.size());
}

milliseconds Exploration::elapsed() const {
  return std::chrono::duration_cast<milliseconds>(Clock::now() - start_);
}

std::uint64_t Exploration::resume() {
  std::uint64_t runs = 0;
  for (TestExploration& test : tests_) runs += test.resume(folder_.ranges(test.name()));
  return runs;
}

void Exploration::replay_first(const std::string& corpus) {
  std::uint64_t number = 0;
  for (const CorpusTape& tape : tapes_in(corpus)) {
    const auto found = std::find_if(tests_.begin(), tests_.end(),
                                    [&](const auto& test) { return test.name() == tape.test; });
    if (found == tests_.end() || !options_.shard.has(number++)) continue;
    states_[static_cast<std::size_t>(found - tests_.begin())].tapes.push_back(tape.path);
  }
}

Exploration::End Exploration::run() {
  start_ = Clock::now();
  note_tests_over();
  for (;;) {
    check_end();
    while (!ending_ && jobs_.size() < options_.jobs && start_one()) {
    }
    if (jobs_.empty()) break;
    wait();
    if (listener_.progress) listener_.progress(moment());
  }
  for (std::size_t i = 0; i < tests_.size(); ++i) {
    tests_[i].settle(true);
    tidy_up(i);
    if (!states_[i].over) examine_crashes(i);
    if (!std::exchange(states_[i].over, true) && listener_.test_over)
      listener_.test_over(tests_[i]);
  }
  return end_;
}

// With a budget of time every test gets as much of it as the others; without one they come in
// order, so that the first result is there early.
std::vector<std::size_t> Exploration::in_order_of_need() const {
  std::vector<std::size_t> order(tests_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!options_.time) return order;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const State& first = states_[a];
    const State& second = states_[b];
    return std::pair(first.jobs, tests_[a].spent()) < std::pair(second.jobs, tests_[b].spent());
  });
  return order;
}

bool Exploration::start_one() {
  for (const std::size_t test : in_order_of_need()) {
    if (!states_[test].over && start_one_of(test)) return true;
  }
  return false;
}

bool Exploration::start_one_of(std::size_t index) {
  TestExploration& test = tests_[index];
  State& state = states_[index];
  Assignment assignment{.test = test.name(), .range = {}, .tape = {}, .events = {}};
  if (!state.tapes.empty() && !test.unwanted(0)) {
    assignment.tape = state.tapes.back();
    state.tapes.pop_back();
    assignment.events = folder_.replay_events_path(test.name(), assignment.tape);
    ++state.replays;
  } else {
    if (state.replays > 0) return false;
    const std::optional<RunRange> range = test.next();
    if (!range) return false;
    assignment.range = *range;
    assignment.events = folder_.events_path(test.name(), range->first);
  }
  jobs_.push_back(std::make_unique<Job>(options_, binary_, std::move(assignment)));
  ++state.jobs;
  return true;
}

void Exploration::wait() {
  std::vector<pollfd> watched;
  for (const auto& job : jobs_) {
    watched.push_back({job->child().descriptor(), POLLIN, 0});
    watched.push_back({job->child().end_descriptor(), POLLIN, 0});
  }
  ::poll(watched.data(), watched.size(), kTick_ms);
  for (std::size_t i = 0; i < jobs_.size();) {
    Job& job = *jobs_[i];
    job.child().read_output();
    job.check_for_hang();
    if (!job.child().has_ended()) {
      ++i;
      continue;
    }
    const std::unique_ptr<Job> ended = std::move(jobs_[i]);
    jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(i));
    finish(*ended);
  }
  drop_unwanted();
  note_tests_over();
}

std::size_t Exploration::index_of(const Job& job) const {
  const auto found = std::find_if(tests_.begin(), tests_.end(), [&](const auto& test) {
    return test.name() == job.assignment().test;
  });
  FERMATA_ASSERT(found != tests_.end());
  return static_cast<std::size_t>(found - tests_.begin());
}

void Exploration::finish(Job& job) {
  const std::size_t index = index_of(job);
  const Assignment& assignment = job.assignment();
  tests_[index].spend(job.age());
  FERMATA_ASSERT(states_[index].jobs > 0);
  --states_[index].jobs;
  if (job.is_dropped()) {
    tests_[index].dropped(assignment.range);
    remove_artifacts(job.reported().failures, tests_[index]);
    folder_.forget(assignment.test, assignment.range.first);
    return;
  }
  ReportedEvents reported = job.reported();
  if (!reported.error.empty()) {
    throw UsageError(fmt::format("{}: {}", assignment.test, reported.error));
  }
  if (!assignment.tape.empty()) {
    FERMATA_ASSERT(states_[index].replays > 0);
    --states_[index].replays;
    return finish_replay(job, std::move(reported));
  }
  if (reported.explored) {
    note_memory_limit(reported.explored->failures);
    explored(index, job, std::move(*reported.explored));
  } else if (const std::string trouble = job.trouble(); !trouble.empty()) {
    throw UsageError(trouble);
  } else {
    RangeResult record = job.crash_record();
    folder_.forget(assignment.test, assignment.range.first);
    write_crash(folder_.events_path(assignment.test, record.first_run), record);
    tests_[index].died(assignment.range, std::move(record));
  }
  tidy_up(index);
}

/// A run that found no memory failed for a reason that its command line does not show.
void Exploration::note_memory_limit(std::vector<FailureRecord>& failures) const {
  if (options_.memory_limit == 0) return;
  for (FailureRecord& failure : failures) {
    if (failure.message.find("bad_alloc") == std::string::npos) continue;
    failure.report += fmt::format("under a memory limit of {} MiB; in a shell: ulimit -v {}\n",
                                  options_.memory_limit >> 20, options_.memory_limit >> 10);
  }
}

// A process that has reported its end may still die of it.
void Exploration::explored(std::size_t test, Job& job, RangeResult record) {
  if (job.child().ending().signal != 0) {
    FailureRecord failure = job.crash_record(true).failures.front();
    append_failure(job.assignment().events, failure);
    record.failures.push_back(std::move(failure));
  }
  tests_[test].explored(job.assignment().range, std::move(record));
}

void Exploration::finish_replay(Job& job, ReportedEvents reported) {
  const std::size_t index = index_of(job);
  ReplayResult record;
  if (reported.replayed) {
    record = std::move(*reported.replayed);
  } else {
    record.failures = job.crash_record().failures;
    record.summary = record.failures.front().message;
  }
  record.tape = job.assignment().tape;
  FERMATA_ASSERT(!record.tape.empty());
  for (FailureRecord& failure : record.failures) failure.tape = record.tape;
  if (record.is_stale()) record.failures.clear();
  tests_[index].replayed(std::move(record));
}

void Exploration::drop_unwanted() {
  for (const auto& job : jobs_) {
    const bool explores = job->assignment().tape.empty();
    if (job->is_dropped() || !explores) continue;
    if (tests_[index_of(*job)].unwanted(job->assignment().range.first)) job->drop();
  }
}

void Exploration::tidy_up(std::size_t index) {
  TestExploration& test = tests_[index];
  for (const RangeResult& record : test.take_unwanted()) {
    remove_artifacts(record.failures, test);
    folder_.forget(test.name(), record.first_run);
  }
  remove_artifacts(test.take_superseded(), test);
  for (const RangeResult& record : test.take_settled()) {
    thin_out(folder_.events_path(test.name(), record.first_run), record,
             test.totals().behaviours().level());
  }
}

/// What a failing run has left beside its tape has the same name up to its ending.
void Exploration::remove_artifacts(const std::vector<FailureRecord>& failures,
                                   const TestExploration& test) {
  namespace fs = std::filesystem;
  for (const FailureRecord& failure : failures) {
    const fs::path tape = failure.tape;
    const auto& kept = test.totals().failures();
    const bool needed = std::any_of(kept.begin(), kept.end(),
                                    [&](const auto& other) { return other.tape == failure.tape; });
    std::error_code error;
    if (needed || !fs::exists(tape, error)) continue;
    const std::string stem = tape.stem().string() + '.';
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(tape.parent_path(), error)) {
      if (entry.path().filename().string().starts_with(stem)) files.push_back(entry.path());
    }
    for (const fs::path& file : files) fs::remove(file, error);
  }
}

/// Analyses the crashes that are kept when the test is over: which ones these are does not depend
/// on how many processes explore. The results are on disk, for a later merge.
void Exploration::examine_crashes(std::size_t index) {
  TestExploration& test = tests_[index];
  const std::vector<FailureRecord> failures = test.totals().failures();
  for (FailureRecord failure : failures) {
    if (interrupts() > 0) return;
    if (!wants_crash_analysis(failure, options_)) continue;
    const std::string events = folder_.events_path(test.name(), failure.run);
    const milliseconds limit = crash_analysis_limit(failure, options_);
    if (listener_.crash_analysis) listener_.crash_analysis(failure, limit);
    const Clock::time_point before = Clock::now();
    analyse_crash(failure, options_, binary_, events + ".analysis", limit, [this] {
      if (listener_.progress) listener_.progress(moment());
    });
    test.spend(std::chrono::duration_cast<milliseconds>(Clock::now() - before));
    RangeResult record;
    record.first_run = failure.run;
    record.counts.runs = record.counts.failures = 1;
    record.failures.push_back(failure);
    write_crash(events, record);
    test.complete(failure);
  }
}

void Exploration::check_end() {
  if (!ending_) {
    if (interrupts() > 0) {
      end_ = End::Interrupted;
    } else if (options_.time && elapsed() >= *options_.time) {
      end_ = End::Time;
    } else {
      return;
    }
    ending_ = true;
    ending_since_ = Clock::now();
    for (const auto& job : jobs_) job->stop();
    return;
  }
  if (interrupts() > 0) end_ = End::Interrupted;
  if (Clock::now() - ending_since_ < kGrace && interrupts() < 2) return;
  for (const auto& job : jobs_) {
    if (!job->is_dropped() && job->status().phase.load() != StatusPage::Phase::Reporting)
      job->drop();
  }
}

void Exploration::note_tests_over() {
  for (std::size_t i = 0; i < tests_.size(); ++i) {
    State& state = states_[i];
    const bool replaying = !state.tapes.empty() && !tests_[i].unwanted(0);
    if (state.over || state.jobs > 0 || replaying || !tests_[i].over()) continue;
    tests_[i].settle(true);
    tidy_up(i);
    examine_crashes(i);
    state.over = true;
    if (listener_.test_over) listener_.test_over(tests_[i]);
  }
}

Moment Exploration::moment() const {
  Moment moment;
  moment.elapsed = elapsed();
  if (options_.time) moment.left = std::max(milliseconds(0), *options_.time - moment.elapsed);
  const bool known = options_.runs != kNoEnd && options_.until_stable_ppm == 0 && !options_.time &&
                     options_.shard.count == 1;
  moment.runs_wanted = known ? options_.runs * tests_.size() : kNoEnd;
  for (std::size_t i = 0; i < tests_.size(); ++i) {
    const TestTotals& totals = tests_[i].totals();
    moment.runs += tests_[i].runs_so_far();
    moment.kinds += totals.behaviours().kinds();
    moment.failures += totals.failures().size();
    moment.tests_over += states_[i].over;
  }
  for (const auto& job : jobs_) {
    moment.runs += job->status().done.load();
    moment.kinds += job->status().kinds.load();
    moment.failures += job->status().failures.load() > 0;
    moment.test = job->assignment().test;
  }
  return moment;
}

}  // namespace fermata::sim::cli
