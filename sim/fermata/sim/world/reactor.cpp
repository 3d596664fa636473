// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/world/reactor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/sim/base/amount.hpp"
#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/world/switching.hpp"

namespace fermata::sim::detail {

namespace {

constexpr Duration kPollInterval = std::chrono::milliseconds(100);
constexpr Duration kLeastLateness = std::chrono::microseconds(10);
constexpr std::uint64_t kLatenesses = 12;  // Each twice the one before.
constexpr Duration kLeastPause = std::chrono::milliseconds(1);
constexpr std::uint64_t kPauses = 14;  // Likewise; the longest is 8 s.
constexpr Duration kLeastClockStep = std::chrono::milliseconds(1);
constexpr std::uint64_t kClockSteps = 2 * 18;  // Ahead or back; the most is 131 s.

}  // namespace

SimReactor::SimReactor(NodeState& program, const Surroundings& around)
    : program_(program),
      lateness_key_(key_of(program.key(), "lateness")),
      pause_key_(key_of(program.key(), "pause")),
      clock_step_key_(key_of(program.key(), "clock step")),
      order_key_(key_of(program.key(), "order")),
      polls_(attachment_, program),
      kernel_(program, around.network, around.disk, polls_.table()),
      further_processes_(kernel_, program, around.network, around.disk),
      signals_(attachment_, program),
      triggers_(attachment_, program),
      streams_(attachment_, program, around.network, around.terminal),
      datagrams_(attachment_, program, around.network),
      files_(attachment_, program, around.disk, around.shared_disks),
      file_watches_(attachment_, program, around.disk),
      names_(attachment_, program, around.network.names()),
      threads_(attachment_, program),
      processes_(attachment_, program, around.network, around.programs),
      offload_(attachment_, program, kernel_) {}

Instant SimReactor::now() noexcept { return program_.clock().shown(program_.now()); }

WallTime SimReactor::wall_clock() noexcept { return program_.clock().wall(program_.now()); }

void SimReactor::attach(Runtime& runtime) {
  attachment_.attach(runtime);
  offload_.begin_threads();
  last_turn_ = program_.now();
}

std::vector<std::string> SimReactor::detach() noexcept {
  threads_.quiesce();
  processes_.stop_children();
  std::vector<std::string> leaks = attachment_.close_all();
  // As a process does when it ends; what others have to do with it happens now.
  polls_.table().end_run(leaks);
  kernel_.end_life();
  offload_.end_threads();
  further_processes_.end_life();
  Agenda& agenda = program_.agenda();
  while (agenda.earliest() != Instant::never()) agenda.run_due(agenda.earliest());
  processes_.look();
  processes_.end_run();
  signals_.end_run();
  attachment_.describe_unclosed(leaks);
  attachment_.detach();
  return leaks;
}

void SimReactor::meet_pause() {
  const auto tell = [&](const Decision& decision) {
    return fmt::format("'{}' gets no processor time for {}", program_.name(),
                       amount(kLeastPause * (1 << decision.value)));
  };
  const std::uint64_t length = program_.faults().strength(Fault::Pause, backend::RandomStream::Time,
                                                          pause_key_, kPauses, tell);
  FERMATA_ASSERT(length < kPauses);
  if (length != 0) program_.pause_for(kLeastPause * (1 << length));
}

void SimReactor::meet_clock_step() {
  const auto step_of = [](std::uint64_t drawn) {
    return (drawn % 2 == 0 ? 1 : -1) * kLeastClockStep * (1 << drawn / 2);
  };
  const auto tell = [&](const Decision& decision) {
    const Duration by = step_of(decision.value);
    const bool is_ahead = by > Duration::zero();
    return fmt::format("the wall clock of '{}' is set {} by {}", program_.host().name(),
                       is_ahead ? "ahead" : "back", amount(is_ahead ? by : -by));
  };
  const std::uint64_t drawn = program_.faults().strength(
      Fault::ClockStep, backend::RandomStream::Time, clock_step_key_, kClockSteps, tell);
  FERMATA_ASSERT(drawn < kClockSteps);
  if (drawn != 0) program_.step_wall_clock(step_of(drawn));
}

Duration SimReactor::lateness() {
  const auto tell = [&](const Decision& decision) {
    return fmt::format("the next timers of '{}' fire {} late", program_.name(),
                       amount(kLeastLateness * (1 << decision.value)));
  };
  const std::uint64_t late = program_.faults().strength(
      Fault::TimerLate, backend::RandomStream::Time, lateness_key_, kLatenesses, tell);
  FERMATA_ASSERT(late < kLatenesses);
  return late == 0 ? Duration::zero() : kLeastLateness * (1 << late);
}

void SimReactor::turn(backend::TurnMode mode, Instant wake_by) {
  if (program_.can_pause()) meet_pause();
  if (program_.can_step_clock()) meet_clock_step();
  polls_.begin_turn();
  if (mode == backend::TurnMode::Block) {
    wake_by = program_.clock().when_shown(wake_by);
    if (wake_by != Instant::never()) wake_by = wake_by + lateness();
    wake_by = std::min(wake_by, polls_.interruption());
    if (program_.wait(wake_by)) attachment_.runtime().shutdown();
  } else {
    program_.give_way();
  }
  last_turn_ = program_.now();
  struct InTurn {
    bool& flag;
    ~InTurn() { flag = false; }
  };
  {
    const InTurn end{in_turn_ = true};
    happen();
  }
  if (program_.is_struck()) program_.give_way();  // Before anybody sees what has happened.
}

void SimReactor::happen() {
  attachment_.runtime().fire_timers();
  if (program_.agenda().earliest() <= program_.now()) {
    program_.agenda().run_due(program_.now(), program_.decisions(), order_key_, program_.name());
  }
  signals_.deliver_pending();
}

// What a turn does, it does to this runtime only.
void SimReactor::let_threads_in() noexcept {
  if (!in_turn_) program_.let_threads_in();
}

void SimReactor::require_main(const char* part) const {
  if (program_.is_thread()) throw Unsupported(fmt::format("{} of threads", part), name());
}

SimPolls& SimReactor::polls() {
  require_main("polls");
  return polls_;
}

SimSignals& SimReactor::signals() {
  require_main("signals");
  return signals_;
}

SimStreams& SimReactor::streams() {
  require_main("streams");
  return streams_;
}

SimProcesses& SimReactor::processes() {
  require_main("processes");
  return processes_;
}

SimDatagrams& SimReactor::datagrams() {
  require_main("datagrams");
  return datagrams_;
}

void SimReactor::begin_process(std::string_view name, std::function<void()> main) {
  require_main("processes");
  further_processes_.begin(name, std::move(main));
}

void SimReactor::life_begins() {
  kernel_.begin_life();
  further_processes_.begin_life();
}

void SimReactor::main_ends() {
  kernel_.main_ends();
  further_processes_.main_ends();
}

void SimReactor::program_ended() {
  kernel_.program_ended();
  further_processes_.program_ended();
}

void SimReactor::wake() noexcept { program_.wake(); }

void SimReactor::watch_control_signals(std::span<const int> signums) { signals_.control(signums); }

void SimReactor::announced(std::uint64_t key, bool written) { program_.announced(key, written); }

// Whoever asks for the time afterwards has been waiting for this step.
void SimReactor::consume(Duration cost) {
  FERMATA_ASSERT(cost >= Duration::zero());
  program_.uses_unknown();
  program_.advance(program_.now() + cost);
  if (program_.now() - last_turn_ >= kPollInterval) {
    attachment_.runtime().scheduler().request_poll();
  }
}

}  // namespace fermata::sim::detail
