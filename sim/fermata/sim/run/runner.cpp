// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/key.hpp"
#include "fermata/sim/record/run_log.hpp"
#include "fermata/sim/run/heap_perturbation.hpp"
#include "fermata/sim/run/step_difference.hpp"
#include "fermata/sim/strategy/make_strategy.hpp"

namespace fermata::sim {
namespace {

constexpr std::size_t kPage = 4'096;
constexpr int kHeaps = 32;  // On which a difference is looked for.

}  // namespace

Runner::Runner(const Program& program, std::string_view strategy, const WorldOptions& options,
               const detail::Instruments& instruments)
    : Runner(program, make_strategy(strategy), options, instruments) {}

Runner::Runner(const Program& program, std::unique_ptr<Strategy> strategy,
               const WorldOptions& options, const detail::Instruments& instruments)
    : program_(program),
      options_(options),
      instruments_(instruments),
      strategy_(std::move(strategy)),
      decisions_(*strategy_),
      world_(decisions_, options_),
      output_(*this) {
  decisions_.set_whereabouts(this);
  FERMATA_ASSERT(strategy_ != nullptr);
}

RunResult Runner::run(std::uint64_t seed) {
  start_run_log();
  return run_either(instruments_, seed, false);
}

RunResult Runner::run_sampled(std::uint64_t seed) {
  if (recording_ || options_.full_audit) return run(seed);
  start_run_log();
  detail::Instruments instruments = instruments_;
  instruments.sampled_audit = true;
  const RunResult first = run_either(instruments, seed, false);
  sampled_ = decisions_.told_of_steps() == nullptr;
  if (!first.failure || !sampled_) return first;
  const RunResult second = audit(seed);
  return second.failure ? second : first;
}

RunResult Runner::audit(std::uint64_t seed) {
  FERMATA_ASSERT(sampled_);
  const Uncounted uncounted(world_);
  const RunResult result = run(seed);
  FERMATA_ASSERT(!sampled_);
  return result;
}

RunResult Runner::replay(const Preparation& preparation, Replay& replay) {
  start_run_log();
  decisions_.begin_replay(replay);
  const RunResult result = run_in(world_, options_, instruments_, preparation);
  decisions_.end();
  return result;
}

RunResult Runner::replay_then_explore(const Preparation& preparation, Replay& replay,
                                      std::uint64_t draws, std::uint64_t seed) {
  start_run_log();
  decisions_.begin_replay(replay, draws, seed);
  return run_in(world_, options_, instruments_, preparation);
}

// The machine of the test itself goes without saying.
std::string Runner::line_head() const {
  FERMATA_ASSERT(running_ != nullptr);
  const detail::WorldAccess running(*running_);
  const std::string machine = running.current_machine();
  std::string who = running.current_coroutine();
  if (!machine.empty() && machine != "main" && machine != who) {
    who = who.empty() ? machine : machine + '/' + who;
  }
  return fmt::format("[{}{}{}] ", describe(running_->now()), who.empty() ? "" : " ", who);
}

RunResult Runner::run_in(World& world, const WorldOptions& options,
                         const detail::Instruments& instruments, const Preparation& preparation) {
  FERMATA_ASSERT(program_.body != nullptr);
  running_ = &world;
  sampled_ = false;
  detail::WorldAccess(world).reset(options, instruments);
  output_.clear();
  test_failures_.belong_to(world);
  if (program_.prepare) program_.prepare(preparation);
  world.node("main", [this] { program_.body(*running_); });
  world.run();
  if (RunLog* const log = instruments.run_log) log->ended(world.now(), world.trace_hash());
  return RunResult{.failure = world.failure(),
                   .skipped = world.skipped(),
                   .trace_hash = world.trace_hash(),
                   .steps = world.steps(),
                   .draws = decisions_.log().draws(),
                   .end = world.now()};
}

std::optional<Failure> Runner::twin(std::uint64_t seed, const RunResult& before) {
  return compare(seed, before, "on another heap and other stacks");
}

std::optional<Failure> Runner::second_life(std::uint64_t seed, const RunResult& before) {
  if (before.steps == 0) return std::nullopt;
  first_life_ = 1 + key_of(seed, before.steps) % before.steps;
  std::optional<Failure> difference = compare(seed, before, "after one ended by force");
  first_life_ = 0;
  return difference;
}

std::optional<Failure> Runner::compare(std::uint64_t seed, const RunResult& before,
                                       std::string_view circumstances) {
  FERMATA_ASSERT(!recording_);
  ++twins_;
  live_first(seed);
  const RunResult after = run_in_other_world(options_, instruments_, seed);
  if (after.same_run(before) && after.signature() == before.signature()) return std::nullopt;
  const std::optional<std::string> difference = first_difference(seed);
  Failure failure;
  failure.verdict = Verdict::Nondeterminism;
  failure.message = difference ? fmt::format("the same seed gave another run {}", circumstances)
                               : std::string(detail::kStateLeaks);
  failure.at = std::min(before.end, after.end);
  failure.step = std::min(before.steps, after.steps);
  failure.explanation = fmt::format(
      "first:  {} steps, {} draws, trace hash {:#x}, {}\n"
      "second: {} steps, {} draws, trace hash {:#x}, {}\n{}",
      before.steps, before.draws, before.trace_hash, before.signature(), after.steps, after.draws,
      after.trace_hash, after.signature(),
      difference.value_or(
          fmt::format("no step differs when both are run again, on {} heaps\n", kHeaps)));
  return failure;
}

void Runner::live_first(std::uint64_t seed) {
  if (first_life_ == 0) return;
  WorldOptions cut = options_;
  cut.step_limit = first_life_;
  run_in_other_world(cut, instruments_, seed);
}

RunResult Runner::run_in_other_world(WorldOptions options, const detail::Instruments& instruments,
                                     std::uint64_t seed) {
  options.stacks.stack_bytes += 3 * kPage;
  if (other_world_ == nullptr) other_world_ = std::make_unique<World>(decisions_, options);
  const detail::HeapPerturbation perturbation(twins_);
  decisions_.begin(seed);
  return run_in(*other_world_, options, instruments, Preparation{seed, {}});
}

RunResult Runner::run_shifted(std::uint64_t seed, std::uint64_t variant) {
  twins_ = variant;
  return run_in_other_world(options_, instruments_, seed);
}

RunResult Runner::run_either(const detail::Instruments& instruments, std::uint64_t seed,
                             bool shifted) {
  if (shifted) return run_in_other_world(options_, instruments, seed);
  decisions_.begin(seed);
  return run_in(world_, options_, instruments, Preparation{seed, {}});
}

std::vector<std::uint64_t> Runner::steps_of(std::uint64_t seed, bool shifted, StepProbe* probe) {
  detail::Instruments instruments = instruments_;
  instruments.record_steps = true;
  instruments.run_log = nullptr;
  instruments.probe = probe;
  if (shifted) live_first(seed);
  const Uncounted uncounted(world_);
  struct Listening {
    Runner& runner;
    ~Listening() { runner.listen_as_usual(); }
  } const listening{*this};
  decisions_.names().set_wanted(recording_ || probe != nullptr);
  decisions_.log().set_listener(probe != nullptr ? probe : listener_);
  run_either(instruments, seed, shifted);
  return detail::WorldAccess(*running_).step_hashes();
}

detail::StepAccount Runner::account_of(std::uint64_t seed, bool shifted, std::uint64_t step) {
  FERMATA_ASSERT(step > 0);
  StepProbe probe(step, step);
  steps_of(seed, shifted, &probe);
  return detail::StepAccount::of(probe.step(step), decisions_.names().all());
}

// What depends on addresses need not depend on each heap, and may be another step whenever somebody
// looks: heaps are tried until a step differs that was looked at. The first one is the twin's own.
std::optional<std::string> Runner::first_difference(std::uint64_t seed) {
  constexpr std::uint64_t kSteps = 20'000;
  std::uint64_t from = 0;
  for (int i = 0; i < kHeaps; ++i, ++twins_) {
    StepProbe one(from, from + kSteps);
    StepProbe other = one;
    const std::vector<std::uint64_t> first = steps_of(seed, false, &one);
    const std::uint64_t step = detail::first_difference(first, steps_of(seed, true, &other));
    if (step == 0) continue;
    if (step >= from && step <= from + kSteps) {
      const KeyNames& names = decisions_.names().all();
      return detail::difference_text(step, detail::StepAccount::of(one.step(step), names),
                                     detail::StepAccount::of(other.step(step), names));
    }
    from = step - std::min(step, kSteps / 2);
  }
  return std::nullopt;
}

Runner::Uncounted::Uncounted(const World& world)
    : world_(world), before_(world_.assertion_counts().begin(), world_.assertion_counts().end()) {}

Runner::Uncounted::~Uncounted() {
  FERMATA_ASSERT(before_.size() <= world_.assertion_counts().size());
  world_.set_assertion_counts(std::move(before_));
}

void Runner::set_recording(bool recording) {
  FERMATA_ASSERT(uncounted_.has_value() == recording_);
  if (recording && !recording_) uncounted_.emplace(world_);
  if (!recording) uncounted_.reset();
  decisions_.names().set_wanted(recording);
  instruments_.record_steps = recording;
  instruments_.log_waits = recording;
  recording_ = recording;
  FERMATA_ASSERT(uncounted_.has_value() == recording);
}

// The last run's may be somebody else's by now.
void Runner::start_run_log() {
  run_log_ = recording_ ? std::make_shared<RunLog>() : nullptr;
  listen_as_usual();
  FERMATA_ASSERT((run_log_ != nullptr) == recording_);
  instruments_.run_log = run_log_.get();
}

void Runner::listen_as_usual() {
  decisions_.names().set_wanted(recording_);
  decisions_.log().set_listener(listener_ != nullptr ? listener_ : run_log_.get());
}

}  // namespace fermata::sim
