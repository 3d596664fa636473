// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/sim_test.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/audit/debugger_stops.hpp"
#include "fermata/sim/base/counted.hpp"
#include "fermata/sim/base/program_path.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/base/stack_text.hpp"
#include "fermata/sim/inspect/loaded_libraries.hpp"
#include "fermata/sim/posix/allowed_functions.hpp"
#include "fermata/sim/report/disk_text.hpp"
#include "fermata/sim/report/network_text.hpp"
#include "fermata/sim/run/environment.hpp"
#include "fermata/sim/run/event_writer.hpp"
#include "fermata/sim/run/explore.hpp"
#include "fermata/sim/run/failure_pipeline.hpp"
#include "fermata/sim/run/fresh_process.hpp"
#include "fermata/sim/run/fuzzer.hpp"
#include "fermata/sim/run/obligations.hpp"
#include "fermata/sim/run/process/crash_reporter.hpp"
#include "fermata/sim/run/process/shared_status.hpp"
#include "fermata/sim/run/reanchor.hpp"
#include "fermata/sim/run/reproduce.hpp"
#include "fermata/sim/run/test_host.hpp"
#include "fermata/sim/run/twin_check.hpp"
#include "fermata/sim/run/twin_process.hpp"
#include "fermata/sim/run/world_options.hpp"
#include "fermata/sim/run/worst_verdict.hpp"
#include "fermata/sim/strategy/make_strategy.hpp"

namespace fermata::sim::detail {
namespace {

/// The signature of a run that did not fail.
constexpr std::string_view kPass = "pass";

std::uint64_t runs_of(const Options& options) {
  return options.runs.value_or(options.seed ? 1 : Options::kDefaultRuns);
}

/// One SIM_TEST in one process.
class SimTest {
 public:
  SimTest(const Program& program, const Options& options)
      : program_(program), options_(options), name_(current_test_name()), events_(options.events) {}

  void run() {
    if (!options_.twin_program.empty() && !options_.twin) {
      throw UsageError("FERMATA_TWIN: expected FERMATA_CHECK_DETERMINISM=twin as well");
    }
    if (!options_.confirm.empty()) {
      confirm();
    } else if (!options_.twin_task.empty()) {
      run_as_twin(program_, world_options(options_), options_.twin_task);
    } else if (!options_.replay.empty()) {
      replay();
    } else if (!options_.fuzz.empty()) {
      fuzz();
    } else if (options_.crash_limit) {
      failures_.explored_crash(options_to_explore());
    } else {
      explore();
    }
  }

 private:
  ExploreOptions options_to_explore() const {
    ExploreOptions explore;
    explore.name = name_;
    explore.runs = runs_of(options_);
    explore.first_run = options_.first_run;
    explore.keep_going = options_.keep_going;
    explore.seed = base_seed();
    explore.strategy = options_.strategy;
    explore.faults = options_.faults_text;
    explore.check_determinism = options_.check_determinism;
    explore.keep_checked = options_.twin;
    explore.adaptive_audit = options_.adaptive_audit;
    explore.world = world_options(options_);
    return explore;
  }

  void explore() {
    if (!options_.report.empty()) {
      throw UsageError(
          fmt::format("FERMATA_REPORT={}: expected FERMATA_REPLAY as well; exploring writes a "
                      "report beside the tape of each failure",
                      options_.report));
    }
    if (options_.shows_network || options_.shows_disk) {
      throw UsageError(fmt::format("{}: expected FERMATA_REPLAY as well: it shows a run on a tape",
                                   options_.shows_disk ? "FERMATA_DISK" : "FERMATA_NETWORK"));
    }
    const SharedStatus status = SharedStatus::open(options_.status);
    status.name(name_);
    CrashReporter crash_reporter(command_to_explore(), options_.first_run);
    ExploreOptions explore_options = options_to_explore();
    if (make_strategy(options_.strategy)->enumerates()) {
      fmt::print("{}: the world is held calm, without faults\n", options_.strategy);
    }
    explore_options.on_run = [&](std::uint64_t run, const ExploreResult& so_far) {
      crash_reporter.set_run(run);
      return write_on(status.page(), run, so_far);
    };
    ExploreResult result = sim::explore(explore_options, program_);
    if (!result.found) result.found = find_other_twin(program_, explore_options, result, options_);
    status.page().phase.store(StatusPage::Phase::Reporting, std::memory_order_relaxed);
    note_of_test("schedules", std::to_string(result.runs));
    note_of_test("trace_hash", seed_text(result.trace_hash));
    if (result.found) {
      fail(std::move(*result.found));
    } else {
      print_explored(result);
    }
    for (FoundFailure& found : result.others) fail(std::move(found));
    judge_assertions(result);
    events_.explored(explore_options, result);
    status.page().phase.store(StatusPage::Phase::Over, std::memory_order_relaxed);
    if (result.is_skipped()) skip_test(result.skip_reason);
  }

  void print_explored(const ExploreResult& result) const {
    if (result.is_skipped()) {
      fmt::print("skipped in all {}, from seed {:#x}\n", counted(result.runs, "schedule"),
                 base_seed());
      return;
    }
    fmt::print("explored {}, {} of them different, from seed {:#x}\n",
               counted(result.runs, "schedule"), result.distinct_runs, base_seed());
    if (result.skipped > 0) {
      fmt::print("skipped in {} of them: {}\n", result.skipped, result.skip_reason);
    }
    if (!result.coverage.empty()) fmt::print("{}: {}\n", options_.strategy, result.coverage);
  }

  void judge_assertions(const ExploreResult& result) const {
    if (result.is_skipped()) return note_skipped();
    note_explored(result.catalogue, result.runs);
    const std::string missed =
        missed_by_test(result.catalogue, result.runs - result.skipped, options_);
    if (missed.empty() || result.found) return;
    note_verdict(Verdict::Missed);
    fail_test(missed);
  }

  /// The run `run` begins. Returns whether it may.
  static bool write_on(StatusPage& page, std::uint64_t run, const ExploreResult& so_far) noexcept {
    FERMATA_ASSERT(so_far.runs <= run);
    FERMATA_ASSERT(so_far.failures <= so_far.runs);
    page.done.store(so_far.runs, std::memory_order_relaxed);
    page.kinds.store(so_far.distinct_runs, std::memory_order_relaxed);
    page.failures.store(so_far.failures, std::memory_order_relaxed);
    page.run.store(run, std::memory_order_relaxed);
    page.phase.store(StatusPage::Phase::Running, std::memory_order_relaxed);
    return page.stop.load(std::memory_order_relaxed) == 0;
  }

  /// What repeats the whole exploration, but for the number of runs.
  std::string command_to_explore() const {
    const Reproduction all{
        .seed = base_seed(), .strategy = options_.strategy, .first_run = options_.first_run};
    Settings settings = settings_of(all, options_);
    std::erase_if(settings, [](const auto& setting) { return setting.first == "FERMATA_RUNS"; });
    return command_line(settings, name_);
  }

  std::uint64_t base_seed() const { return options_.seed.value_or(Options::kDefaultSeed); }

  void fail(FoundFailure found) const {
    FERMATA_ASSERT(found.run >= options_.first_run);
    const Reproduction exploration{.seed = base_seed(),
                                   .runs = found.run - options_.first_run + 1,
                                   .strategy = options_.strategy,
                                   .first_run = options_.first_run};
    const std::uint64_t runs = options_.all_runs.value_or(options_.first_run + runs_of(options_));
    failures_.explored(std::move(found), exploration, runs);
  }

  /// One run for another process, which wants to know what becomes of it.
  void confirm() const {
    FERMATA_ASSERT(!options_.confirm.empty());
    Runner runner(program_, options_.strategy, world_options(options_));
    const RunResult result = runner.run(base_seed());
    leave_fingerprint(Fingerprint{.signature = result.signature(),
                                  .trace_hash = result.trace_hash,
                                  .steps = result.steps,
                                  .end = result.end.nanoseconds},
                      options_.confirm);
  }

  void fuzz() const {
    if (fuzzer() == nullptr) {
      throw UsageError(
          "FERMATA_FUZZ: this program has no fuzzer; expected one that is linked with "
          "fermata::fuzz_main (docs/guide/fuzzing.md)");
    }
    if (options_.fuzz != name_) return;
    // libFuzzer's alarm looks at the clock, in the middle of a step.
    GuardOptions guard = options_.guard;
    guard.allowed.emplace_back("clock_gettime");
    set_guard(std::move(guard));
    fuzzer()(FuzzedTest{.program = program_,
                        .options = options_,
                        .name = name_,
                        .failures = failures_,
                        .events = events_});
  }

  void replay() {
    const Tape tape = load_tape(options_.replay);
    if (tape.test != name_) {
      return skip_test(options_.replay + " is a tape of " + tape.test);
    }
    if (is_crash(tape.signature) && options_.shrink == When::On) {
      failures_.replayed_crash(tape);
      return;
    }
    if (options_.break_at != 0) return replay_with_stops(tape);
    Replayed replayed = run_tape(tape);
    fmt::print("{}: {}\n", options_.replay, replayed.summary);
    if (replayed.found && replayed.found->failure.verdict == Verdict::Divergence) {
      fmt::print(
          "The program does not follow the tape. If it was edited, replay what still matches: "
          "fermata replay --replay-mode best {}\n",
          shell_quoted(options_.replay));
    }
    events_.replayed(options_.replay, replayed.summary, replayed.matched, count_shown(tape));
    const std::string state = state_text(replayed);
    if (replayed.found) {
      failures_.replayed(std::move(*replayed.found));
    } else if (replayed.passing) {
      failures_.replayed_passing(std::move(*replayed.passing));
    }
    fmt::print("{}", state);
  }

  struct Replayed {
    std::string summary;
    std::size_t matched = 0;
    std::optional<FoundFailure> found;
    std::optional<RunReport> passing = {};
  };

  /// What the machines have sent each other and what is on their disks, as far as that was asked
  /// for.
  [[nodiscard]] std::string state_text(const Replayed& replayed) const {
    const RunLog* const run_log = replayed.found     ? replayed.found->run_log.get()
                                  : replayed.passing ? replayed.passing->runs.front().run_log.get()
                                                     : nullptr;
    if (!options_.shows_network && !options_.shows_disk) {
      if (!options_.moment.step && !options_.moment.time) return {};
      throw UsageError("FERMATA_AT: expected FERMATA_NETWORK or FERMATA_DISK as well");
    }
    if (run_log == nullptr) return {};
    FERMATA_ASSERT(!options_.replay.empty());
    const MomentOfRun moment = find_moment(*run_log, options_.moment);
    std::string text;
    if (options_.shows_network) text += network_text(*run_log, moment);
    if (options_.shows_disk) text += disk_text(*run_log, moment);
    return text;
  }

  Replayed run_tape(const Tape& tape) const {
    const bool failed = tape.signature != kPass;
    if (options_.replay_mode == ReplayMode::Best && failed) {
      std::optional<Reanchored> again = reanchor(program_, world_options(options_, tape), tape);
      if (again) return Replayed{again->summary, again->matched, std::move(again->found)};
    }
    return run_as_it_is(tape);
  }

  /// For whoever debugs it: without a record of it, which takes longer than the run, and a report.
  void replay_with_stops(const Tape& tape) const {
    const auto [summary, failure] = run_with_stops(tape);
    fmt::print("{}: {}\n", options_.replay, summary);
    if (failure) fail_test(failure->message);
  }

  std::pair<std::string, std::optional<Failure>> run_with_stops(const Tape& tape) const {
    FERMATA_ASSERT(options_.break_at > 0);
    Replay replay(tape.decisions, tape.draws, tape.names, options_.replay_mode);
    Runner runner(program_, tape.strategy, world_options(options_, tape));
    begin_stops(options_.break_at);
    const RunResult result = runner.replay(Preparation{tape.seed, tape.rapidcheck}, replay);
    stop_at_end();
    std::optional<Failure> failure = divergence(tape, replay, result);
    return {replay.summary(), failure ? std::move(failure) : result.failure};
  }

  /// While the runner lives the output and the assertions of this thread are its own.
  Replayed run_as_it_is(const Tape& tape) const {
    const WorldOptions world = world_options(options_, tape);
    Replay replay(tape.decisions, tape.draws, tape.names, options_.replay_mode);
    Runner runner(program_, tape.strategy, world);
    runner.set_recording(true);
    const RunResult result = runner.replay(Preparation{tape.seed, tape.rapidcheck}, replay);
    Replayed replayed{replay.summary(), replay.matched(), std::nullopt};
    std::optional<Failure> failure = divergence(tape, replay, result);
    if (!failure) failure = result.failure;
    if (failure) {
      replayed.found = describe_failure(runner, program_, std::move(*failure), result, tape);
    } else {
      replayed.passing = RunReport{.test = name_, .seed = tape.seed, .strategy = tape.strategy};
      replayed.passing->runs.push_back({.title = "run",
                                        .run_log = runner.run_log(),
                                        .names = runner.decisions().names().all(),
                                        .decisive = std::nullopt});
    }
    FERMATA_ASSERT(replayed.found.has_value() != replayed.passing.has_value());
    return replayed;
  }

  /// How a strict replay is not the run on the tape.
  static std::optional<Failure> divergence(const Tape& tape, const Replay& replay,
                                           const RunResult& result) {
    if (replay.mode() == ReplayMode::Best) return std::nullopt;
    Failure failure;
    failure.verdict = Verdict::Divergence;
    failure.at = result.end;
    failure.step = result.steps;
    if (const auto& found = replay.divergence()) {
      failure.message = found->text();
      failure.at = found->at;
      failure.step = found->step;
      failure.coroutine = found->coroutine;
    } else if (is_crash(tape.signature)) {
      failure.message =
          fmt::format("expected '{}'; the run ended normally, with the same draws", tape.signature);
    } else if (result.trace_hash != tape.trace_hash) {
      failure.message = fmt::format("expected trace hash {:#x}; got {:#x}, with the same draws",
                                    tape.trace_hash, result.trace_hash);
    } else {
      return std::nullopt;
    }
    return failure;
  }

  const Program& program_;
  const Options& options_;
  std::string name_;
  EventWriter events_;
  FailurePipeline failures_{program_, options_, name_, events_};
};

/// To the tool, if one listens and it is possible at all.
void tell_error(const Error& error) {
  try {
    EventWriter(process_options().events).error(error.what());
  } catch (const Error&) {
    note_verdict(Verdict::Safety);  // The tool sees that the end is missing.
  }
}

}  // namespace

std::string current_test_name() {
  if (const TestHost* host = test_host()) return host->name();
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  FERMATA_ASSERT(test != nullptr);
  return fmt::format("{}.{}", test->test_suite_name(), test->name());
}

void run_sim_test(const Program& program) {
  FERMATA_REQUIRE(program.body != nullptr, "a simulated test needs a body");
  try {
    set_guard(process_options().guard);
    look_names_up(process_options().names);
    check_loaded_libraries(process_options().imports);
    allow_unserved(process_options().imports.allowed);
    SimTest(program, process_options()).run();
  } catch (const Error& error) {
    fail_test(error.what());
    tell_error(error);
  }
}

void run_sim_test(void (*body)(World& world)) {
  FERMATA_ASSERT(body != nullptr);
  Program program;
  program.body = body;
  run_sim_test(program);
}

}  // namespace fermata::sim::detail
