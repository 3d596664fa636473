// SPDX-License-Identifier: Apache-2.0
#pragma once

// One machine: its clock, what is going to happen to it, and the runtime that its program runs on.
// Each thread of that program is one more of these, with a clock, an agenda and a runtime of its
// own on the same machine. Kept from run to run.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "fermata/base/time.hpp"
#include "fermata/context/context.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/sim/audit/audit.hpp"
#include "fermata/sim/fs/disk.hpp"
#include "fermata/sim/machine/agenda.hpp"
#include "fermata/sim/machine/node_clock.hpp"
#include "fermata/sim/net/terminal.hpp"
#include "fermata/sim/world/turn_order.hpp"
#include "fermata/sim/world/world.hpp"

namespace fermata::detail {
class ThreadLink;
}

namespace fermata::sim {
class Chronicle;
}

namespace fermata::sim::detail {

class FaultPlan;
class Network;
class ProgramTable;
class SimReactor;
class WorldState;

class NodeState final : private AgendaOwner {
 public:
  /// With `machine`: for a thread of a program there.
  NodeState(WorldState& world, std::string_view name, NodeState* machine = nullptr);
  NodeState(const NodeState&) = delete;
  NodeState& operator=(const NodeState&) = delete;
  ~NodeState();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Whose thread it is; itself when it is none.
  [[nodiscard]] NodeState& machine() const noexcept { return *machine_; }
  [[nodiscard]] bool is_thread() const noexcept { return machine_ != this; }
  /// Names this machine in the keys of draws.
  [[nodiscard]] std::uint64_t key() const noexcept { return key_; }
  [[nodiscard]] std::uint32_t ip() const noexcept { return ip_; }
  [[nodiscard]] Node& handle() noexcept { return handle_; }
  [[nodiscard]] Runtime& runtime() const noexcept { return *runtime_; }

  [[nodiscard]] Interrupter& interrupter() noexcept { return audit_.interrupter(); }
  [[nodiscard]] WaitSource wait_source() const noexcept { return audit_.wait_source(); }
  /// The step that runs uses what has a name with this key.
  void announced(std::uint64_t key, bool written) { audit_.announced(key, written); }
  /// From here on nobody knows what a step uses.
  void uses_unknown() noexcept;

  // --- for the parts of its reactor ---

  [[nodiscard]] Instant now() const noexcept { return clock_; }
  /// The latest time of any node; while it waits, its own time may be behind.
  [[nodiscard]] Instant world_now() const noexcept;
  /// What its clock shows, which is what its program calls the time.
  [[nodiscard]] NodeClock& clock() noexcept { return machine_->node_clock_; }
  [[nodiscard]] Agenda& agenda() noexcept { return agenda_; }
  [[nodiscard]] FaultPlan& faults() const noexcept { return faults_; }
  [[nodiscard]] Decisions& decisions() const noexcept { return decisions_; }
  [[nodiscard]] Network& network() const noexcept { return network_; }
  [[nodiscard]] const ProgramTable& program_table() const noexcept;
  /// Its file system, empty at the beginning of a run.
  [[nodiscard]] Disk& disk() noexcept {
    machine_->disk_used_ = true;
    return machine_->disk_;
  }
  /// What its program's standard streams are.
  [[nodiscard]] Terminal& terminal() noexcept { return machine_->terminal_; }
  /// The machine with this address, which may be this one; null when there is none.
  [[nodiscard]] NodeState* peer(std::uint32_t ip) noexcept;
  /// The machine of this name; null when there is none.
  [[nodiscard]] NodeState* peer(std::string_view name) const noexcept;
  /// The process ends by a signal that it has not prepared for.
  [[noreturn]] void die_of(int signum);
  /// It has crashed and is not up again.
  [[nodiscard]] bool is_down() const noexcept { return machine_->down_; }
  /// Who is told what it sends; null when nobody is, and while it is unwound.
  [[nodiscard]] Chronicle* chronicle() const noexcept {
    return chronicle_ == nullptr || cut() ? nullptr : chronicle_;
  }
  /// Something befalls this machine, or the link from it to `other`; for people.
  void befell(std::string_view kind, std::string_view what, const NodeState* other = nullptr,
              std::optional<Instant> until = {});
  /// The run is over for this machine: nothing that it does has any effect outside.
  [[nodiscard]] bool cut() const noexcept;

  /// The earliest time at which what happens outside, now, can be seen here.
  [[nodiscard]] Instant time_of_tidings() const noexcept;

  // --- for its reactor ---

  /// Begins a thread of its program.
  void begin_thread(std::shared_ptr<fermata::detail::ThreadLink> link);
  /// As Reactor::let_threads_in.
  void let_threads_in() noexcept;

  /// Lets time pass until something may have happened, at the latest until `wake_by`. Returns
  /// whether the program is to be shut down. Throws AbandonRun when the run is over.
  bool wait(Instant wake_by);
  /// Lets others act that are behind in time; no time passes here.
  void give_way();
  void wake() noexcept;
  void advance(Instant to);

  // --- for the world ---

  enum class Phase : std::uint8_t { Ready, Waiting, Ended };

  /// `number` counts the machines of the run, from 0.
  void begin_run(std::function<void()>&& main, bool is_service, std::uint32_t number);
  /// For a thread that `spawner` starts.
  void begin_run(std::shared_ptr<fermata::detail::ThreadLink> link, const NodeState& spawner,
                 std::uint32_t number);
  /// Lets the program run until it waits, gives way or ends. REQUIRES: it has not ended.
  void resume();
  /// Ends the program, unwinding what has begun; it has no effect outside any more.
  void abandon();
  /// The same, and it may be begun again. REQUIRES: it has not ended.
  void go_down();
  /// Begins the program again. REQUIRES: it is down.
  void come_up();
  [[nodiscard]] Phase phase() const noexcept { return phase_; }
  [[nodiscard]] bool is_service() const noexcept { return is_service_; }
  /// When it ran last, in the order of all nodes.
  [[nodiscard]] std::uint64_t last_ran() const noexcept { return last_ran_; }
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  /// When it could go on, as far as it knows; never() when nothing is going to happen to it.
  [[nodiscard]] Instant next_action() const noexcept;
  /// The program is to be shut down in its next turn. Idempotent.
  void request_shutdown() noexcept;
  void signal(int signum);
  void crash();
  void restart();
  /// Fault::Crash may strike from now on.
  void may_crash();
  /// Tells how far its first life has come while a crash could have struck; `cut`: it would have
  /// gone on.
  void note_course(bool cut);
  /// Fault::Pause may strike from now on.
  void may_pause() noexcept { may_pause_ = true; }
  [[nodiscard]] bool can_pause() const noexcept { return machine_->may_pause_; }
  /// Counts its program's beginnings in this run.
  [[nodiscard]] std::uint64_t life() const noexcept { return life_; }
  /// It and its threads do nothing until it is resumed, whatever happens to them.
  void pause();
  void pause_for(Duration time);
  void unpause();
  [[nodiscard]] bool is_paused() const noexcept { return paused_ || machine_->paused_; }
  void set_drift(std::int32_t ppm);
  void step_wall_clock(Duration by);
  void wipe_disk();

 private:
  friend class TurnOrder;

  void earliest_changed() noexcept override;
  void begin();
  void unwind();
  void stop();
  void meet_clock_fault();
  void plan_crash();
  void count_wait();
  static void program_context(fermata::detail::Context& self) noexcept;
  void run_program();
  void run_main() noexcept;
  /// In the main coroutine.
  void run_body(const std::function<void()>& body);
  void yield_to_world(Phase phase);
  void make_runtime();
  [[nodiscard]] Failure failure_of(const std::exception_ptr& error) const;

  std::string name_;
  Node handle_;
  Disk disk_;
  bool disk_used_ = false;  // In this run.
  Terminal terminal_{*this};
  Audit audit_;
  fermata::detail::Context* context_;  // Where run_program() is called.

  // The run in progress.
  std::function<void()> main_;
  std::shared_ptr<fermata::detail::ThreadLink> thread_;   // Of a thread, instead of main_.
  std::map<std::string, std::uint64_t> threads_started_;  // Of a machine, by name.
  std::uint64_t life_ = 0;
  bool is_service_ = false;
  bool began_ = false;
  bool distrusted_ = false;  // A failure may have left its runtime in any state.
  bool may_crash_ = false;
  std::uint64_t waits_ = 0;     // Since its crash was planned.
  std::uint64_t crash_in_ = 0;  // The wait in which it crashes; 0: in none.
  bool may_pause_ = false;

  // What every turn looks at, side by side.
  WorldState& world_;
  FaultPlan& faults_;
  Decisions& decisions_;
  Network& network_;
  NodeState* machine_;
  std::uint64_t key_;
  Agenda agenda_{this};
  std::size_t place_in_order_ = TurnOrder::kNowhere;
  Instant clock_;  // Of the world, as far as this machine has come.
  NodeClock node_clock_;
  Instant wake_by_;
  std::uint64_t last_ran_ = 0;
  std::uint32_t number_ = 0;
  std::uint32_t ip_ = 0;
  Phase phase_ = Phase::Ended;
  bool woken_ = false;
  bool shutdown_requested_ = false;
  bool down_ = false;
  bool paused_ = false;
  SimReactor* reactor_ = nullptr;  // Belongs to the runtime.
  Chronicle* chronicle_ = nullptr;
  std::unique_ptr<Runtime> runtime_;
  fermata::detail::Context* suspended_ = nullptr;  // What resume() goes on with.
  Runtime* current_ = nullptr;                     // What is current there.
};

}  // namespace fermata::sim::detail
