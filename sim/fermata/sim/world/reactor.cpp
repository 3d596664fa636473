// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/world/reactor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/world/node_state.hpp"

namespace fermata::sim::detail {

namespace {

constexpr Duration kPollInterval = std::chrono::milliseconds(100);
constexpr Duration kLeastLateness = std::chrono::microseconds(10);
constexpr std::uint64_t kLatenesses = 12;  // Each twice the one before.
constexpr Duration kLeastPause = std::chrono::milliseconds(1);
constexpr std::uint64_t kPauses = 14;  // Likewise; the longest is 8 s.

}  // namespace

SimReactor::SimReactor(NodeState& node)
    : node_(node),
      lateness_key_(key_of(node.key(), "lateness")),
      pause_key_(key_of(node.key(), "pause")),
      order_key_(key_of(node.key(), "order")),
      polls_(attachment_, node),
      signals_(attachment_, node),
      triggers_(attachment_, node),
      streams_(attachment_, node),
      datagrams_(attachment_, node),
      files_(attachment_, node),
      file_watches_(attachment_, node),
      names_(attachment_, node),
      threads_(attachment_, node),
      processes_(attachment_, node),
      offload_(attachment_, node) {}

Instant SimReactor::now() noexcept { return node_.clock().shown(node_.now()); }

WallTime SimReactor::wall_clock() noexcept { return node_.clock().wall(node_.now()); }

void SimReactor::attach(Runtime& runtime) {
  attachment_.attach(runtime);
  last_turn_ = node_.now();
}

std::vector<std::string> SimReactor::detach() noexcept {
  threads_.quiesce();
  processes_.stop_children();
  std::vector<std::string> leaks = attachment_.close_all();
  Agenda& agenda = node_.agenda();
  while (agenda.earliest() != Instant::never()) agenda.run_due(agenda.earliest());
  processes_.look();
  processes_.end_run();
  polls_.table().end_run(leaks);
  signals_.end_run();
  attachment_.describe_unclosed(leaks);
  attachment_.detach();
  return leaks;
}

void SimReactor::meet_pause() {
  if (node_.decisions().naming()) {
    node_.decisions().name(pause_key_, fmt::format("pause of '{}'", node_.name()));
  }
  const std::uint64_t length =
      node_.faults().strength(Fault::Pause, Stream::Time, pause_key_, kPauses);
  if (length != 0) node_.pause_for(kLeastPause * (1 << length));
}

Duration SimReactor::lateness() {
  if (node_.decisions().naming()) {
    node_.decisions().name(lateness_key_, fmt::format("lateness of timers on '{}'", node_.name()));
  }
  const std::uint64_t late =
      node_.faults().strength(Fault::TimerLate, Stream::Time, lateness_key_, kLatenesses);
  return late == 0 ? Duration::zero() : kLeastLateness * (1 << late);
}

void SimReactor::turn(TurnMode mode, Instant wake_by) {
  if (node_.can_pause()) meet_pause();
  polls_.begin_turn();
  if (mode == TurnMode::Block) {
    wake_by = node_.clock().when_shown(wake_by);
    if (wake_by != Instant::never()) wake_by = wake_by + lateness();
    wake_by = std::min(wake_by, polls_.interruption());
    if (node_.wait(wake_by)) attachment_.runtime().shutdown();
  } else {
    node_.give_way();
  }
  last_turn_ = node_.now();
  struct InTurn {
    bool& flag;
    ~InTurn() { flag = false; }
  };
  const InTurn end{in_turn_ = true};
  happen();
}

void SimReactor::happen() {
  attachment_.runtime().fire_timers();
  if (node_.agenda().earliest() <= node_.now()) {
    node_.agenda().run_due(node_.now(), node_.decisions(), order_key_);
  }
  signals_.deliver_pending();
}

// What a turn does, it does to this runtime only.
void SimReactor::let_threads_in() noexcept {
  if (!in_turn_) node_.let_threads_in();
}

void SimReactor::require_main(const char* part) const {
  if (node_.is_thread()) throw Unsupported(fmt::format("{} of threads", part), name());
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

void SimReactor::wake() noexcept { node_.wake(); }

void SimReactor::watch_control_signals(std::span<const int> signums) { signals_.control(signums); }

void SimReactor::announced(std::uint64_t key, bool written) { node_.announced(key, written); }

// Whoever asks for the time afterwards has been waiting for this step.
void SimReactor::consume(Duration cost) {
  node_.uses_unknown();
  node_.advance(node_.now() + cost);
  if (node_.now() - last_turn_ >= kPollInterval) {
    attachment_.runtime().scheduler().request_poll();
  }
}

}  // namespace fermata::sim::detail
