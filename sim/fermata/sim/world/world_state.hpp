// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a World is made of. Discrete events: of all that can act, whatever is earliest acts next;
// between nodes that are at the same time the order of their creation decides.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/context/context_pool.hpp"
#include "fermata/context/stack_fault.hpp"
#include "fermata/sim/guard/guard.hpp"
#include "fermata/sim/machine/agenda.hpp"
#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/net/network.hpp"
#include "fermata/sim/process/program_table.hpp"
#include "fermata/sim/record/run_record.hpp"
#include "fermata/sim/world/node_state.hpp"
#include "fermata/sim/world/turn_order.hpp"
#include "fermata/sim/world/world.hpp"

namespace fermata::sim::detail {

class WorldState final : public RunRecord, private FaultListener, private GuardedRun {
 public:
  WorldState(Decisions& decisions, WorldOptions options);
  ~WorldState();

  NodeState& add_node(std::string_view name, std::function<void()>&& main, bool is_service);
  /// A thread of the program `spawner`, called `name`. REQUIRES: no other one of the name runs.
  void add_thread(const NodeState& spawner, const std::string& name,
                  std::shared_ptr<fermata::detail::ThreadLink> link);
  [[nodiscard]] NodeState* find_node(std::string_view name) const noexcept;
  [[nodiscard]] NodeState* find_node(std::uint32_t ip) const noexcept;
  /// Throws UsageError when there is none.
  [[nodiscard]] NodeState& known_node(std::string_view name) const;
  /// Throws UsageError unless there are two such nodes.
  [[nodiscard]] LinkState& link(std::string_view from, std::string_view to);
  void partition(std::span<const std::string_view> group);
  void heal();
  /// For the program that runs now, or whose action does: with its body the action is dropped.
  void at(Duration delay, std::function<void()> action);
  /// The same for the world itself: nothing drops it.
  void later(Duration delay, std::function<void()> action);
  /// The body of `program`, which runs now, has ended: what it has planned does not happen.
  void drop_actions_of(const NodeState& program);
  /// At once in an action, else when the present step ends.
  void crash(NodeState& node);
  void restart(NodeState& node);
  /// Draws in which of its waits from now on this life of `node` ends by a crash; 0: in none.
  std::uint64_t plan_crash(const NodeState& node);
  /// That wait has come.
  void meet_crash(NodeState& node);
  /// Calls `told` whenever another program may have ended, at a time that is then the time of the
  /// program which asks; null ends that.
  void tell_of_ends(std::function<void()> told);
  /// Whether there are others than the program that runs now, services apart.
  [[nodiscard]] bool others_run() const noexcept;
  void run();
  void reset(const WorldOptions& options);

  /// The first failure of a run counts; it ends the run.
  void fail(Failure failure) override;
  [[nodiscard]] std::string why() const override { return failure_ ? failure_->message : ""; }
  void report(const NodeState& node, std::string_view text);

  // --- for the nodes ---

  /// Whether nothing but the node that runs can act before `until`.
  [[nodiscard]] bool alone_until(Instant until) const noexcept {
    return action_agenda_.earliest() > until && turns_.earliest() > until;
  }
  [[nodiscard]] TurnOrder& turns() noexcept { return turns_; }
  /// When the first of the other programs of its machine can go on.
  [[nodiscard]] Instant earliest_beside(const NodeState& program) const noexcept;
  /// Calls `visit` with the machine's program and its threads, or with one thread.
  template <class F>
  void for_each_program_of(NodeState& program, F visit) {
    visit(program);
    for (NodeState* thread : threads_) {
      if (thread != &program && &thread->machine() == &program) visit(*thread);
    }
  }
  void began(NodeState& node) noexcept;
  void ended(const NodeState& node) noexcept;
  /// Whether time may pass as far as `to`; when not, the run has failed.
  bool within_time_limit(Instant to) {
    return to <= Instant{} + options_.time_limit || end_by_time_limit();
  }
  void time_is(Instant now) noexcept { now_ = std::max(now_, now); }
  [[nodiscard]] fermata::detail::Context& own_context() noexcept { return thread_context_; }
  [[nodiscard]] fermata::detail::ContextPool& contexts() noexcept { return contexts_; }
  /// `node` runs now, on `context`; both null when none does. Returns a number that grows.
  std::uint64_t set_running(NodeState* node, fermata::detail::Context* context) noexcept {
    running_node_ = node;
    running_context_ = context;
    return ++switches_;
  }

  [[nodiscard]] Decisions& decisions() noexcept { return decisions_; }
  [[nodiscard]] FaultPlan& faults() noexcept { return faults_; }
  [[nodiscard]] Network& network() noexcept { return network_; }
  [[nodiscard]] ProgramTable& program_table() noexcept { return program_table_; }
  [[nodiscard]] const WorldOptions& options() const noexcept { return options_; }
  [[nodiscard]] const std::optional<Failure>& failure() const noexcept { return failure_; }
  [[nodiscard]] Instant now() const noexcept { return now_; }
  [[nodiscard]] const std::vector<std::string>& log() const noexcept { return log_; }
  [[nodiscard]] const std::vector<std::string>& histories() const noexcept { return histories_; }
  std::size_t keep_history(std::optional<std::size_t> number, std::string json);
  [[nodiscard]] std::string current_coroutine() const override;
  [[nodiscard]] bool in_run() const noexcept { return in_run_; }
  /// Whose program runs now; null when none does.
  [[nodiscard]] NodeState* running_node() const noexcept { return running_node_; }

 private:
  struct Action final : Happening {
    Action(WorldState& w, const NodeState* p, std::function<void()>&& f)
        : world(w), planner(p), life(p != nullptr ? p->life() : 0), function(std::move(f)) {}
    void happen() override;
    [[nodiscard]] bool is_orphan() const noexcept {
      return planner != nullptr &&
             (planner->phase() == NodeState::Phase::Ended || planner->life() != life);
    }
    WorldState& world;
    const NodeState* planner;  // Null: the world, or whoever made it.
    std::uint64_t life;        // Of the planner.
    std::function<void()> function;
  };

  void plan(Duration delay, const NodeState* planner, std::function<void()>&& action);

  void struck(Fault fault, std::uint64_t key) override;
  [[nodiscard]] bool is_over() const noexcept override { return over(); }
  void fail_guarded(const char* function, std::string coroutine,
                    const std::string& called_in) override;
  static void describe_node(void* owner, char* out, std::size_t size) noexcept;
  /// Lets whatever is earliest act. Returns false when the run is over.
  bool act();
  [[nodiscard]] bool only_services_left() const noexcept;
  /// Nodes and threads.
  [[nodiscard]] std::vector<NodeState*> programs() const;
  void run_actions();
  /// Another round of actions, at `when`; whether there have not been too many at that time.
  bool within_instant_limit(Instant when);
  /// Calls `action` outside of every node.
  void outside(std::function<void()> action);
  void crash_now(NodeState& node);
  std::uint64_t drawn_at_crash(const NodeState& node, Stream stream, std::uint64_t part,
                               const char* what, std::uint64_t bound);
  void tell_of_end();
  [[nodiscard]] bool may_come_up(const NodeState& node) const noexcept;
  bool end_by_time_limit();
  void stop_by_limit(std::string message);
  void stall();
  void unwind_rest();

  Decisions& decisions_;
  WorldOptions options_;
  FaultPlan faults_;
  Network network_;
  ProgramTable program_table_;

  fermata::detail::ContextPool contexts_;
  fermata::detail::Context thread_context_;
  fermata::detail::Context* running_context_ = nullptr;
  NodeState* running_node_ = nullptr;
  std::uint64_t switches_ = 0;
  fermata::detail::StackFaultGuard stack_fault_guard_;

  TurnOrder turns_;                                      // Outlives the nodes.
  std::vector<std::unique_ptr<NodeState>> known_nodes_;  // Of this run and of earlier ones.
  std::vector<NodeState*> nodes_;                        // Of this run, in order of creation.
  std::map<std::string, std::unique_ptr<NodeState>> known_threads_;  // As known_nodes_.
  std::vector<NodeState*> threads_;  // Of this run, in order of creation; some may have ended.
  std::uint32_t threads_begun_ = 0;
  std::size_t programs_left_ = 0;  // That run, services apart.
  std::deque<Action> actions_;
  Agenda action_agenda_;
  const Action* acting_ = nullptr;       // What happens now.
  std::uint64_t rounds_of_actions_ = 0;  // Since time has passed.

  Instant now_;
  std::function<void()> on_end_;
  NodeState* on_end_node_ = nullptr;  // Where it was asked for.
  std::optional<Failure> failure_;
  std::vector<std::string> log_;
  std::vector<std::string> histories_;
  bool in_run_ = false;
  bool services_stopping_ = false;
};

}  // namespace fermata::sim::detail
