// SPDX-License-Identifier: Apache-2.0
#pragma once

// A world as its programs see it: the time, the order of turns, who runs now, and what the world
// does when a program asks for it.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/context/context_pool.hpp"
#include "fermata/sim/fs/shared_disk.hpp"
#include "fermata/sim/machine/agenda.hpp"
#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/net/network.hpp"
#include "fermata/sim/process/program_table.hpp"
#include "fermata/sim/record/run_state.hpp"
#include "fermata/sim/world/instruments.hpp"
#include "fermata/sim/world/turn_order.hpp"
#include "fermata/sim/world/world_options.hpp"

namespace fermata::detail {
class ThreadLink;
}

namespace fermata::sim::detail {

class NodeState;

class Stage : public RunState {
 public:
  [[nodiscard]] const WorldOptions& options() const noexcept { return options_; }
  [[nodiscard]] const Instruments& instruments() const noexcept { return instruments_; }
  [[nodiscard]] Decisions& decisions() noexcept { return decisions_; }
  [[nodiscard]] FaultPlan& faults() noexcept { return faults_; }
  [[nodiscard]] Network& network() noexcept { return network_; }
  [[nodiscard]] ProgramTable& program_table() noexcept { return program_table_; }
  [[nodiscard]] SharedDisks& shared_disks() noexcept { return shared_disks_; }
  [[nodiscard]] const std::optional<Failure>& failure() const noexcept { return failure_; }

  // --- time and turns ---

  [[nodiscard]] Instant now() const noexcept { return now_; }
  void time_is(Instant now) noexcept { now_ = std::max(now_, now); }
  /// Whether nothing but the program that runs can act before `until`.
  [[nodiscard]] bool alone_until(Instant until) const noexcept {
    return action_agenda_.earliest() > until && turns_.earliest() > until;
  }
  /// Whether time may pass as far as `to`; when not, the run has failed.
  bool within_time_limit(Instant to) {
    return to <= Instant{} + options_.time_limit || end_by_time_limit();
  }
  [[nodiscard]] TurnOrder& turns() noexcept { return turns_; }

  // --- who runs ---

  [[nodiscard]] fermata::detail::StackContext& own_context() noexcept { return thread_context_; }
  [[nodiscard]] fermata::detail::ContextPool& contexts() noexcept { return contexts_; }
  /// `node` runs now, on `context`; both null when none does. Returns a number that grows.
  std::uint64_t set_running(NodeState* node, fermata::detail::StackContext* context) noexcept {
    FERMATA_ASSERT((node == nullptr) == (context == nullptr));
    FERMATA_ASSERT((node == nullptr) != (running_node_ == nullptr));  // One after the other.
    running_node_ = node;
    running_context_ = context;
    return ++switches_;
  }
  /// The node whose program runs now; null when none does.
  [[nodiscard]] NodeState* running_node() const noexcept { return running_node_; }

  // --- other programs ---

  /// The machine of this name, or with this address; null when there is none.
  [[nodiscard]] virtual NodeState* find_node(std::string_view name) const noexcept = 0;
  [[nodiscard]] virtual NodeState* find_node(std::uint32_t ip) const noexcept = 0;
  /// Begins a thread of the program `spawner`, called `name`, as which no other one runs.
  virtual void add_thread(const NodeState& spawner, const std::string& name,
                          std::shared_ptr<fermata::detail::ThreadLink> link) = 0;
  /// Threads of this run, in order of creation; some may have ended.
  [[nodiscard]] const std::vector<NodeState*>& threads() const noexcept { return threads_; }

  // --- what programs tell and ask ---

  /// Appends a line to the log of the run.
  void log_line(std::string line) { log_.push_back(std::move(line)); }
  virtual void began(NodeState& node) noexcept = 0;
  virtual void ended(const NodeState& node) noexcept = 0;
  /// Calls `action` when `delay` has passed from now, outside of every program.
  virtual void later(Duration delay, std::function<void()> action) = 0;
  /// The body of `program`, which runs now, has ended: what it has planned does not happen.
  virtual void drop_actions_of(const NodeState& program) = 0;
  /// The wait in which `node` is to crash has come.
  virtual void meet_crash(NodeState& node) = 0;

 protected:
  Stage(Decisions& decisions, const WorldOptions& options);
  ~Stage() { FERMATA_ASSERT(contexts_.stats().live == 0); }

  Decisions& decisions_;
  WorldOptions options_;
  Instruments instruments_;
  FaultPlan faults_;
  Network network_;
  ProgramTable program_table_;
  SharedDisks shared_disks_;
  std::optional<Failure> failure_;
  std::vector<std::string> log_;

  Instant now_;
  Agenda action_agenda_;
  TurnOrder turns_;
  std::vector<NodeState*> threads_;

  fermata::detail::ContextPool contexts_;
  fermata::detail::StackContext thread_context_;
  fermata::detail::StackContext* running_context_ = nullptr;
  NodeState* running_node_ = nullptr;
  std::uint64_t switches_ = 0;

 private:
  virtual bool end_by_time_limit() = 0;
};

}  // namespace fermata::sim::detail
