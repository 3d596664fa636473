// SPDX-License-Identifier: Apache-2.0
#pragma once

// One machine: its clock, what is going to happen to it, and the runtime that its program runs on.
// Each thread of that program is one more of these, with a clock, an agenda and a runtime of its
// own on the same machine. Kept from run to run.

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
#include "fermata/sim/net/terminal.hpp"
#include "fermata/sim/world/program.hpp"
#include "fermata/sim/world/stage.hpp"
#include "fermata/sim/world/turn_order.hpp"

namespace fermata::sim::detail {

class SimReactor;

class NodeState final : public Program, public TurnOrder::Member, private StepListener {
 public:
  /// With `machine`: for a thread of a program there.
  NodeState(Stage& stage, std::string_view name, NodeState* machine = nullptr);
  NodeState(const NodeState&) = delete;
  NodeState& operator=(const NodeState&) = delete;
  ~NodeState();

  /// The machine that this thread belongs to; itself when it is not a thread.
  [[nodiscard]] NodeState& machine() const noexcept { return static_cast<NodeState&>(host()); }
  [[nodiscard]] Runtime& runtime() const noexcept { return *runtime_; }
  /// Its file system, empty at the beginning of a run.
  [[nodiscard]] Disk& disk() noexcept { return machine().disk_; }
  /// The terminal of its program's standard streams.
  [[nodiscard]] Terminal& terminal() noexcept { return machine().terminal_; }
  [[nodiscard]] Interrupter& interrupter() noexcept { return audit_.interrupter(); }
  [[nodiscard]] WaitSource wait_source() const noexcept { return audit_.wait_source(); }
  /// Tells the run log, if there is one, of the files of its disk when they have changed, also when
  /// the run is over.
  void record_files(bool after_crash = false) {
    if (run_log_ != nullptr) record_changed_files(after_crash);
  }
  /// Writes `text` into the log of the run, with who says it and when.
  void report(std::string_view text) const;

  // --- as a Machine ---

  [[nodiscard]] Instant world_now() const noexcept override;
  [[nodiscard]] Instant earliest_visible_time() const noexcept override;
  [[nodiscard]] NodeState* peer(std::uint32_t ip) noexcept override;
  [[nodiscard]] NodeState* peer(std::string_view name) const noexcept override;
  void signal(int signum) override;
  void announced(std::uint64_t key, bool written) override { audit_.announced(key, written); }
  void fail(std::string message) override;
  void record_incident(std::string_view kind, std::string_view what, const Machine* other = nullptr,
                       std::optional<Instant> until = {}) override;

  // --- as a Program ---

  bool wait(Instant wake_by) override;
  void wake() noexcept override;
  void let_threads_in() noexcept override;
  void advance(Instant to) override;
  void begin_thread(std::shared_ptr<fermata::detail::ThreadLink> link) override;
  [[noreturn]] void killed_by_signal(int signum) override;
  [[nodiscard]] bool can_pause() const noexcept override { return machine().may_pause_; }
  [[nodiscard]] bool can_step_clock() const noexcept override { return machine().may_step_clock_; }
  void pause_for(Duration time) override;

  // --- for its reactor ---

  /// Lets others act that are behind in time; no time passes here.
  void give_way();

  // --- for the world ---

  enum class Phase : std::uint8_t { Ready, Waiting, Ended };

  /// `number` counts the machines of the run, from 0.
  void begin_run(std::function<void()>&& main, bool is_service, std::uint32_t number);
  /// For a thread that `spawner` starts.
  void begin_run(std::shared_ptr<fermata::detail::ThreadLink> link, const NodeState& spawner,
                 std::uint32_t number);
  /// Lets the program run from `when` on, or from its own time if that is later, until it waits,
  /// gives way or ends. REQUIRES: it has not ended.
  void resume(Instant when);
  /// Ends the program, unwinding what has begun; it has no effect outside any more.
  void abandon();
  /// Ends the program like abandon(); it may be begun again.
  void go_down();
  /// Begins the program again. REQUIRES: it is down.
  void come_up();
  [[nodiscard]] Phase phase() const noexcept { return phase_; }
  [[nodiscard]] bool is_service() const noexcept { return is_service_; }
  /// When it could go on, as far as it knows; never() when nothing is going to happen to it.
  [[nodiscard]] Instant next_action() const noexcept;
  /// The program is to be shut down in its next turn. Idempotent.
  void request_shutdown() noexcept;
  /// Fault::Crash may strike from now on.
  void may_crash();
  void show_real_files(std::string path) {
    FERMATA_ASSERT(path.starts_with('/'));
    real_files_.push_back(std::move(path));
  }
  /// Tells how far its first life has come while a crash could have struck; `cut`: it would have
  /// gone on.
  void note_course(bool cut);
  /// Fault::Pause may strike from now on.
  void may_pause() noexcept { may_pause_ = true; }
  void may_step_clock() noexcept { may_step_clock_ = true; }
  void may_refuse_threads() noexcept { may_refuse_threads_ = true; }
  /// Counts its program's beginnings in this run.
  [[nodiscard]] std::uint64_t life() const noexcept { return life_; }
  /// The decision that its crash comes, as Decisions::last_told() names it.
  [[nodiscard]] std::uint64_t crash_told() const noexcept { return crash_told_; }
  /// It and its threads do nothing until it is resumed, whatever happens to them.
  void pause();
  void unpause();
  [[nodiscard]] bool is_paused() const noexcept { return paused_ || machine().paused_; }
  void set_drift(std::int32_t ppm);
  void wipe_disk();
  /// Tells `listener` of the occasions of this machine in this run.
  void tell_of_occasions(OccasionListener* listener) noexcept;
  /// Its programs give way as soon as they can, until what strikes has struck.
  void set_struck(bool struck) noexcept { struck_ = struck; }

 private:
  /// Fault::Busy: the step may have taken some time.
  void step_ended() override;
  void marked(const char* message) override { came(Occasion::Mark, message); }
  [[noreturn]] void leave_run() override;
  void earliest_changed() noexcept override { turn_changed(); }
  /// When it can go on may have changed.
  void turn_changed() noexcept;
  /// When the first of the other programs of its machine can go on.
  [[nodiscard]] Instant earliest_beside() const noexcept;
  /// Calls `visit` with a machine's program and its threads, or with one thread.
  template <class F>
  void for_each_program(F visit);
  void begin();
  void unwind();
  /// Throws AbandonRun when the run is over.
  void leave_if_over();
  void stop();
  void meet_clock_fault();
  void meet_busy_fault();
  /// Draws in which of its waits from now on it crashes, if in any.
  void plan_crash();
  void count_wait();
  static void program_context(fermata::detail::StackContext& self) noexcept;
  void run_program();
  void run_main() noexcept;
  void record_changed_files(bool after_crash);
  /// In the main coroutine.
  void run_body(const std::function<void()>& body);
  void switch_to_program();
  void yield_to_world(Phase phase);
  void make_runtime();
  [[nodiscard]] Failure failure_of(const std::exception_ptr& error) const;

  Disk disk_;
  Terminal terminal_{*this};
  Audit audit_;
  fermata::detail::StackContext* context_;  // Where run_program() is called.

  std::uint64_t recorded_disk_ = 0;  // Its version in the run log.

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
  std::uint64_t crash_told_ = 0;
  bool may_pause_ = false;
  bool may_step_clock_ = false;

  // What every turn looks at, side by side.
  Stage& stage_;
  Instant wake_by_;
  std::uint64_t last_ran_ = 0;
  Phase phase_ = Phase::Ended;
  bool woken_ = false;
  bool shutdown_requested_ = false;
  bool paused_ = false;
  std::uint64_t pauses_ = 0;       // So far.
  SimReactor* reactor_ = nullptr;  // Belongs to the runtime.
  std::unique_ptr<Runtime> runtime_;
  fermata::detail::StackContext* suspended_ = nullptr;  // What resume() goes on with.
  Runtime* current_ = nullptr;                          // What is current there.
};

}  // namespace fermata::sim::detail
