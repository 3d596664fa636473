// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/runner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fermata/sim/run/perturbation.hpp"

namespace fermata::sim {
namespace {

constexpr std::size_t kPage = 4'096;

bool same_items(const detail::StepAccount& one, const detail::StepAccount& other) {
  return std::equal(one.items.begin(), one.items.end(), other.items.begin(), other.items.end(),
                    [](const auto& a, const auto& b) { return a.identity == b.identity; });
}

}  // namespace

Runner::Runner(const Program& program, std::string_view strategy, const WorldOptions& options)
    : program_(program),
      options_(options),
      strategy_(make_strategy(strategy)),
      decisions_(*strategy_),
      world_(decisions_, options_),
      output_(*this) {
  decisions_.set_whereabouts(this);
}

RunResult Runner::run(std::uint64_t seed) {
  start_chronicle();
  decisions_.begin(seed);
  return run_in(world_, options_, Preparation{seed, {}});
}

RunResult Runner::replay(const Preparation& preparation, Replay& replay) {
  start_chronicle();
  decisions_.begin_replay(replay);
  const RunResult result = run_in(world_, options_, preparation);
  decisions_.end();
  return result;
}

RunResult Runner::replay_then_explore(const Preparation& preparation, Replay& replay,
                                      std::uint64_t draws, std::uint64_t seed) {
  start_chronicle();
  decisions_.begin_replay(replay, draws, seed);
  return run_in(world_, options_, preparation);
}

RunResult Runner::run_in(World& world, const WorldOptions& options,
                         const Preparation& preparation) {
  running_ = &world;
  world.reset(options);
  output_.clear();
  expectations_.belong_to(world);
  if (program_.prepare) program_.prepare(preparation);
  world.node("main", [this] { program_.body(*running_); });
  world.run();
  return RunResult{world.failure(), world.trace_hash(), world.steps(), decisions_.draws(),
                   world.now()};
}

std::optional<Failure> Runner::twin(std::uint64_t seed, const RunResult& before) {
  ++twins_;
  const RunResult after = run_shifted(options_, seed);
  if (after.same_run(before) && after.signature() == before.signature()) return std::nullopt;
  Failure failure;
  failure.verdict = Verdict::Nondeterminism;
  failure.message = "the same seed gave another run on another heap and other stacks";
  failure.at = std::min(before.end, after.end);
  failure.step = std::min(before.steps, after.steps);
  failure.explanation = fmt::format(
      "first:  {} steps, {} draws, trace hash {:#x}, {}\n"
      "second: {} steps, {} draws, trace hash {:#x}, {}\n{}",
      before.steps, before.draws, before.trace_hash, before.signature(), after.steps, after.draws,
      after.trace_hash, after.signature(), first_difference(seed));
  return failure;
}

RunResult Runner::run_shifted(WorldOptions options, std::uint64_t seed) {
  options.stacks.stack_bytes += 3 * kPage;
  if (other_world_ == nullptr) other_world_ = std::make_unique<World>(decisions_, options);
  const detail::HeapPerturbation perturbation(twins_);
  decisions_.begin(seed);
  return run_in(*other_world_, options, Preparation{seed, {}});
}

RunResult Runner::run_shifted(std::uint64_t seed, std::uint64_t variant) {
  twins_ = variant;
  return run_shifted(options_, seed);
}

RunResult Runner::run_either(const WorldOptions& options, std::uint64_t seed, bool shifted) {
  if (shifted) return run_shifted(options, seed);
  decisions_.begin(seed);
  return run_in(world_, options, Preparation{seed, {}});
}

std::vector<std::uint64_t> Runner::steps_of(std::uint64_t seed, bool shifted) {
  WorldOptions options = options_;
  options.record_steps = true;
  run_either(options, seed, shifted);
  return running_->step_hashes();
}

detail::StepAccount Runner::account_of(std::uint64_t seed, bool shifted, std::uint64_t step) {
  StepProbe probe(step);
  WorldOptions options = options_;
  options.probe = &probe;
  decisions_.set_naming(true);
  decisions_.set_listener(&probe);
  run_either(options, seed, shifted);
  decisions_.set_listener(chronicle_.get());
  decisions_.set_naming(watching_);
  return detail::StepAccount::of(probe, decisions_.names());
}

// What depends on addresses need not depend on each heap: others are tried until a step differs,
// and differs again when it is looked at.
std::string Runner::first_difference(std::uint64_t seed) {
  constexpr int kHeaps = 32;
  std::string text = "no step differs when both are run again\n";
  for (int i = 0; i < kHeaps; ++i, ++twins_) {
    const std::vector<std::uint64_t> first = steps_of(seed, false);
    const std::uint64_t step = detail::first_difference(first, steps_of(seed, true));
    if (step == 0) continue;
    const detail::StepAccount one = account_of(seed, false, step);
    const detail::StepAccount other = account_of(seed, true, step);
    text = detail::difference_text(step, one, other);
    if (!same_items(one, other)) break;
  }
  return text;
}

void Runner::watch_closely() {
  decisions_.set_naming(true);
  options_.record_steps = true;
  options_.log_waits = true;
  watching_ = true;
}

void Runner::watch_no_more() {
  decisions_.set_naming(false);
  options_.record_steps = false;
  options_.log_waits = false;
  watching_ = false;
}

// The last run's may be somebody else's by now.
void Runner::start_chronicle() {
  chronicle_ = watching_ ? std::make_shared<Chronicle>() : nullptr;
  decisions_.set_listener(chronicle_.get());
  options_.chronicle = chronicle_.get();
}

}  // namespace fermata::sim
