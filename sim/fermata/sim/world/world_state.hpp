// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a World is made of. Discrete events: of all that can act, whatever is earliest acts next;
// between nodes that are at the same time the order of their creation decides.

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

#include "fermata/context/stack_fault.hpp"
#include "fermata/sim/guard/guard.hpp"
#include "fermata/sim/world/nemesis_options.hpp"
#include "fermata/sim/world/node_state.hpp"
#include "fermata/sim/world/stage.hpp"

namespace fermata::sim::detail {

class Nemesis;

class WorldState final : public Stage, private FaultListener, private GuardedRun {
 public:
  WorldState(Decisions& decisions, WorldOptions options);
  ~WorldState();

  NodeState& add_node(std::string_view name, std::function<void()>&& main, bool is_service);
  void add_thread(const NodeState& spawner, const std::string& name,
                  std::shared_ptr<fermata::detail::ThreadLink> link) override;
  [[nodiscard]] NodeState* find_node(std::string_view name) const noexcept override;
  [[nodiscard]] NodeState* find_node(std::uint32_t ip) const noexcept override;
  /// Throws UsageError when there is none.
  [[nodiscard]] NodeState& known_node(std::string_view name) const;
  /// The link between two nodes. Throws UsageError unless both exist.
  [[nodiscard]] LinkState& link(std::string_view from, std::string_view to);
  void partition(std::span<const std::string_view> group);
  void heal();
  /// For the program that runs now, or whose action does: with its body the action is dropped.
  void at(Duration delay, std::function<void()> action);
  /// Schedules an action of the world itself: nothing drops it.
  void later(Duration delay, std::function<void()> action) override;
  void drop_actions_of(const NodeState& program) override;
  /// Crashes a node: at once in an action, otherwise when the present step ends.
  void crash(NodeState& node);
  void restart(NodeState& node);
  void meet_crash(NodeState& node) override;
  /// Crashes a node that has not ended. REQUIRES: no program runs.
  void crash_now(NodeState& node);
  /// Crashes the server of a shared folder.
  void crash_folder(std::string_view path);
  /// "'desk' crashes at +0.4 ms", for people.
  [[nodiscard]] std::string crash_text(const NodeState& node) const;
  /// Begins a nemesis; throws UsageError when `options` cannot be.
  void begin_nemesis(const NemesisOptions& options);
  /// The machines of this run, in order of creation.
  [[nodiscard]] const std::vector<NodeState*>& nodes() const noexcept { return nodes_; }
  /// Calls `told` whenever another program may have ended, at a time that is then the time of the
  /// program which asks; null ends that.
  void tell_of_ends(std::function<void()> told);
  /// Whether there are others than the program that runs now, services apart.
  [[nodiscard]] bool others_run() const noexcept;
  void run();
  void reset(const WorldOptions& options, const Instruments& instruments);

  /// The first failure of a run counts; it ends the run.
  void fail(Failure failure) override;
  /// Implements World::skip().
  void skip(std::string reason);
  [[nodiscard]] const std::optional<std::string>& skipped() const noexcept { return skipped_; }
  [[nodiscard]] std::string why() const override { return failure_ ? failure_->message : ""; }
  void began(NodeState& node) noexcept override;
  void ended(const NodeState& node) noexcept override;

  [[nodiscard]] const std::vector<std::string>& log() const noexcept { return log_; }
  [[nodiscard]] const std::vector<std::string>& histories() const noexcept { return histories_; }
  std::size_t keep_history(std::optional<std::size_t> number, std::string json);
  [[nodiscard]] std::string current_coroutine() const override;
  [[nodiscard]] std::string current_machine() const;
  /// Implements WorldAccess::printed().
  void printed(std::string_view text, bool continues);
  [[nodiscard]] bool in_run() const noexcept { return in_run_; }

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

  void struck(Fault fault, const std::string& sentence) override;
  [[nodiscard]] bool is_over() const noexcept override { return over(); }
  void fail_guarded(const char* function, std::string coroutine,
                    const std::string& called_in) override;
  static void describe_node(void* owner, char* out, std::size_t size) noexcept;
  /// Lets whatever is earliest act. Returns false when the run is over.
  bool act();
  [[nodiscard]] bool only_services_left() const noexcept {
    return programs_left_ == 0 && !services_stopping_ && nobody_comes_up();
  }
  /// Whether each machine has a service, or will not run its program again.
  [[nodiscard]] bool nobody_comes_up() const noexcept;
  /// Nodes and threads.
  [[nodiscard]] std::vector<NodeState*> programs() const;
  void run_actions();
  /// Another round of actions, at `when`; whether there have not been too many at that time.
  bool within_instant_limit(Instant when);
  /// Calls `action` outside of every node.
  void outside(std::function<void()> action);
  /// What of `disk` was not synced is lost in part, as drawn by `key`; `owner` and `place` are
  /// for people.
  void crash_disk(Disk& disk, std::uint64_t key, const std::string& owner,
                  const std::string& place);
  [[nodiscard]] static std::uint64_t crash_key(const NodeState& node, std::uint64_t part) noexcept;
  void tell_of_end();
  [[nodiscard]] bool may_come_up(const NodeState& node) const noexcept;
  bool end_by_time_limit() override;
  void stop_by_limit(std::string message);
  void stall();
  void unwind_rest();

  fermata::detail::StackFaultGuard stack_fault_guard_;
  std::vector<std::unique_ptr<NodeState>> known_nodes_;  // Of this run and of earlier ones.
  std::vector<NodeState*> nodes_;                        // Of this run, in order of creation.
  std::map<std::string, std::unique_ptr<NodeState>> known_threads_;  // As known_nodes_.
  std::uint32_t threads_begun_ = 0;
  std::size_t programs_left_ = 0;  // That run, services apart.
  std::deque<Action> actions_;
  const Action* acting_ = nullptr;       // What happens now.
  std::uint64_t rounds_of_actions_ = 0;  // Since time has passed.

  std::unique_ptr<Nemesis> nemesis_;  // Of this run; null: it has none.

  std::function<void()> on_end_;
  NodeState* on_end_node_ = nullptr;  // Where it was asked for.
  std::vector<std::string> histories_;
  std::optional<std::string> skipped_;
  bool in_run_ = false;
  bool services_stopping_ = false;
};

}  // namespace fermata::sim::detail
