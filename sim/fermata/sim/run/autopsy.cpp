// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/autopsy.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/sim/base/counted.hpp"
#include "fermata/sim/base/program_path.hpp"
#include "fermata/sim/base/seed.hpp"
#include "fermata/sim/base/stack_text.hpp"
#include "fermata/sim/report/failure_report.hpp"
#include "fermata/sim/run/aftermath.hpp"
#include "fermata/sim/run/forked_runs.hpp"
#include "fermata/sim/run/reproduce.hpp"
#include "fermata/sim/run/shrinker.hpp"
#include "fermata/sim/run/verdicts.hpp"
#include "fermata/sim/run/world_options.hpp"

namespace fermata::sim::detail {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using DecisionList = std::vector<Decision>;

/// How long a run may take when nobody has said so.
constexpr milliseconds kRunLimit(60'000);

/// What may be spent on one finding, in real time.
struct Patience {
  /// A run of the search that takes longer is taken for one that hangs.
  milliseconds trial;
  /// How long smaller runs are looked for.
  milliseconds search;

  /// `run` is how long a run may take.
  static Patience with(Death::Kind kind, milliseconds run) {
    constexpr milliseconds kTrialLeast(100);
    constexpr milliseconds kTrialMost(500);
    constexpr milliseconds kTrialOfCrash(2'000);
    constexpr milliseconds kSearchOfCrash(6'000);
    if (kind == Death::Kind::Hang) {
      return {std::clamp(run / 10, kTrialLeast, kTrialMost), run * 3 / 4};
    }
    return {std::min(kTrialOfCrash, run), kSearchOfCrash};
  }
};

/// The run of `tape` with other decisions.
class ForkedTrials final : public Trials {
 public:
  ForkedTrials(ForkedRuns& runs, const Program& program, const WorldOptions& options,
               const Tape& tape, const Death& death)
      : runs_(runs), program_(program), options_(options), tape_(tape), death_(death) {}

  /// From then on fails() is never true.
  void end_at(Clock::time_point end) noexcept { end_ = end; }

  bool fails(const DecisionList& decisions, const std::string& rapidcheck) override {
    return Clock::now() < end_ && dies(decisions, rapidcheck);
  }
  [[nodiscard]] DecisionList decisions() const override { return last_.decisions; }
  [[nodiscard]] std::uint64_t steps() const override { return 0; }

  /// None of a run that would end this process.
  std::vector<PickRecord> picks(const DecisionList& decisions,
                                const std::string& rapidcheck) override {
    last_ = run(decisions, rapidcheck, options_);
    if (last_.death.kind != Death::Kind::None) return {};
    Runner runner(program_, "calm", options_);
    runner.watch_closely();
    Replay replay(decisions, 0, {}, ReplayMode::Best);
    static_cast<void>(runner.replay(Preparation{tape_.seed, rapidcheck}, replay));
    return runner.decisions().log().pick_records();
  }

  /// How many steps can be made before the deadly one. Nothing when the first one is deadly, or
  /// none is.
  [[nodiscard]] std::optional<std::uint64_t> steps_alive() {
    const auto dies_in = [&](std::uint64_t steps) {
      WorldOptions options = options_;
      options.step_limit = steps;
      return run(tape_.decisions, tape_.rapidcheck, options).death.kind != Death::Kind::None;
    };
    std::uint64_t deadly = 1;
    for (; !dies_in(deadly); deadly *= 2) {
      if (deadly > options_.step_limit) return std::nullopt;
    }
    std::uint64_t alive = deadly / 2;
    while (deadly - alive > 1) {
      const std::uint64_t middle = alive + (deadly - alive) / 2;
      (dies_in(middle) ? deadly : alive) = middle;
    }
    if (alive == 0) return std::nullopt;  // A limit of none would not keep the first from running.
    return alive;
  }

  /// fails(), however late it is.
  bool dies(const DecisionList& decisions, const std::string& rapidcheck) {
    last_ = run(decisions, rapidcheck, options_);
    return last_.death == death_;
  }
  /// What the decisions of the tape speak of.
  [[nodiscard]] Names names() const {
    return run(tape_.decisions, tape_.rapidcheck, options_, true).names;
  }

  [[nodiscard]] const ForkedRun& last() const noexcept { return last_; }

 private:
  [[nodiscard]] ForkedRun run(const DecisionList& decisions, const std::string& rapidcheck,
                              const WorldOptions& options, bool naming = false) const {
    return runs_.run([&](ForkListener& listener) {
      Runner runner(program_, "calm", options);
      runner.set_listener(&listener);
      if (naming) {
        runner.watch_closely();
        listener.take_names(runner.decisions().names().all());
      }
      Replay replay(decisions, 0, {}, ReplayMode::Best);
      static_cast<void>(runner.replay(Preparation{tape_.seed, rapidcheck}, replay));
    });
  }

  ForkedRuns& runs_;
  const Program& program_;
  WorldOptions options_;
  const Tape& tape_;
  Death death_;
  Clock::time_point end_ = Clock::time_point::max();
  ForkedRun last_;
};

std::string path_of_tape(const std::string& out, const Tape& tape) {
  return fmt::format("{}/{}/{}.tape", out, tape.test, seed_text(tape.seed));
}

std::string in_seconds(Clock::duration span) {
  const auto ms = std::chrono::duration_cast<milliseconds>(span).count();
  return fmt::format("{}.{} s", ms / 1'000, ms % 1'000 / 100);
}

}  // namespace

bool is_deadly(const Tape& tape) {
  return tape.signature.starts_with("crash: ") || tape.signature.starts_with("hang: ");
}

struct Autopsy::Finding {
  Tape tape;
  std::string tape_path;
  Death death;
  std::vector<const void*> stack;
  std::string said;
  /// "shrunk: 12 decisions -> 2 (187 runs in processes of their own, 1.2 s)".
  std::string summary;
  Tape shrunk;
  std::string shrunk_path;
  /// The smaller run, up to the step that is deadly.
  std::optional<FoundFailure> before;

  [[nodiscard]] const Tape& smallest() const { return shrunk_path.empty() ? tape : shrunk; }
};

void Autopsy::of_exploration(ExploreOptions exploration) const {
  const std::uint64_t last = exploration.first_run + exploration.runs - 1;
  exploration.check_determinism = 0;
  Finding finding;
  // It has been seen to take longer; where there are runs before it, one of those may be slow.
  ForkedRuns runs(exploration.runs == 1 ? *options_.post_mortem / 2 : *options_.post_mortem);
  const ForkedRun run = runs.run([&](ForkListener& listener) {
    exploration.listener = &listener;
    static_cast<void>(explore(exploration, program_));
  });
  if (run.death.kind == Death::Kind::None || run.too_many) return;
  finding.tape = settings_tape(exploration, exploration.strategy, run_seed(exploration.seed, last));
  finding.tape.program = path_to_type();
  if (program_.prepare) program_.prepare(Preparation{finding.tape.seed, {}});
  if (program_.rapidcheck) finding.tape.rapidcheck = program_.rapidcheck();
  finding.tape.decisions = run.decisions;
  finding.tape.draws = run.decisions.empty() ? 0 : run.decisions.back().index + 1;
  finding.tape.signature = run.death.signature();
  finding.tape_path = path_of_tape(options_.out, finding.tape);
  finding.death = run.death;
  finding.stack = run.stack;
  finding.said = run.said;
  save_tape(finding.tape, finding.tape_path);
  finding.summary = "not shrunk: the search did not come to its end";
  tell(finding);
  make_small(finding, path_of_shrunk(finding.tape_path));
  report(finding);
}

void Autopsy::of_tape(const Tape& tape, const std::string& path) const {
  Finding finding;
  finding.tape = tape;
  ForkedRuns runs(options_.post_mortem.value_or(kRunLimit));
  ForkedTrials trials(runs, program_, world_options(options_, tape), tape, {});
  trials.dies(tape.decisions, tape.rapidcheck);
  finding.death = trials.last().death;
  finding.stack = trials.last().stack;
  finding.said = trials.last().said;
  if (finding.death.kind == Death::Kind::None || finding.death.signature() != tape.signature) {
    throw Error(fmt::format("{}: expected '{}'; the run {}", path, tape.signature,
                            finding.death.kind == Death::Kind::None
                                ? "came to its end"
                                : "ended with '" + finding.death.signature() + "'"));
  }
  make_small(finding, path_of_shrunk(path));
  report(finding);
}

// The tapes are there before the run is looked at in this process: should that kill it too, they
// are all that is missing of the names.
void Autopsy::make_small(Finding& finding, const std::string& shrunk_path) const {
  const auto began = Clock::now();
  const bool hangs = finding.death.kind == Death::Kind::Hang;
  const WorldOptions world = world_options(options_, finding.tape);
  const milliseconds run_limit = options_.post_mortem.value_or(kRunLimit);
  const Patience patience = Patience::with(finding.death.kind, run_limit);
  ForkedRuns runs(patience.trial);
  ForkedTrials trials(runs, program_, world, finding.tape, finding.death);
  // One that depends on more than its decisions, such as addresses, would be tried in vain.
  const auto comes_back = [&] {
    return trials.dies(finding.tape.decisions, finding.tape.rapidcheck);
  };
  if (!comes_back() || !comes_back()) {
    finding.summary = "not shrunk: its decisions, applied by key, do not lead there every time";
    return;
  }
  const Clock::time_point end = Clock::now() + patience.search;
  trials.end_at(end);
  const std::optional<SmallerTape> smaller =
      shrink(trials, program_, finding.tape, shrink_limits(options_));
  if (!smaller) {
    finding.summary = "not shrunk: there was no time for it";
    return;
  }
  finding.shrunk = smaller->tape;
  if (hangs) {
    runs.set_limit(run_limit / 2);
    if (!trials.dies(finding.shrunk.decisions, finding.shrunk.rapidcheck)) {
      finding.summary = "not shrunk: what is left takes long, and comes to its end";
      return;
    }
    runs.set_limit(patience.trial);
  }
  save_tape(finding.shrunk, shrunk_path);
  finding.shrunk_path = shrunk_path;
  const bool all_tried = smaller->minimal && Clock::now() < end;
  finding.summary =
      fmt::format("shrunk: {} -> {} ({} in processes of their own, {}){}",
                  counted(finding.tape.decisions.size(), "decision"),
                  finding.shrunk.decisions.size(), counted(smaller->runs, "run"),
                  in_seconds(Clock::now() - began), all_tried ? "" : "; there was more to try");
  ForkedTrials last(runs, program_, world, finding.shrunk, finding.death);
  finding.shrunk.names = last.names();
  save_tape(finding.shrunk, shrunk_path);
  const std::optional<std::uint64_t> alive = last.steps_alive();
  if (!alive) return;
  WorldOptions until_then = world;
  until_then.step_limit = *alive;
  finding.before = replay_closely(program_, until_then, finding.shrunk);
  if (!finding.before) return;
  finding.shrunk.origins = finding.before->tape.origins;
  save_tape(finding.shrunk, shrunk_path);
}

std::string Autopsy::text_of(const Finding& finding) {
  std::string text;
  if (finding.before) text += fmt::format("  in step {} of the run\n", finding.before->steps + 1);
  for (const std::string& frame : stack_text(finding.stack)) text += "  in " + frame + '\n';
  if (!finding.said.empty()) text += "its last words:\n" + finding.said;
  if (!text.empty() && text.back() != '\n') text += '\n';
  if (!finding.tape_path.empty()) text += fmt::format("tape: {}\n", finding.tape_path);
  text += finding.summary + '\n';
  if (!finding.shrunk_path.empty()) text += fmt::format("shrunk tape: {}\n", finding.shrunk_path);
  text += decisions_text(finding.smallest());
  if (finding.before && !finding.before->arguments.empty()) {
    text += "arguments:\n" + finding.before->arguments;
  }
  if (finding.before && !finding.before->output.empty()) {
    text += "output of the run until then:\n" + finding.before->output;
  }
  return text;
}

void Autopsy::tell(const Finding& finding) const {
  events_.death(finding.smallest(), finding.summary, finding.tape_path, finding.shrunk_path,
                text_of(finding));
}

void Autopsy::report(const Finding& finding) const {
  note_verdict(Verdict::Safety);
  tell(finding);
  const std::string text = text_of(finding);
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  ADD_FAILURE_AT(test->file(), test->line()) << finding.death.signature() << '\n' << text;
}

}  // namespace fermata::sim::detail
