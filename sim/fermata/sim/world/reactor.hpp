// SPDX-License-Identifier: Apache-2.0
#pragma once

// The reactor of a simulated program: time is the program's clock, everything from outside is on
// the program's agenda.

#include "fermata/core/reactor.hpp"
#include "fermata/reactor/handle.hpp"
#include "fermata/sim/fs/file_watches.hpp"
#include "fermata/sim/fs/files.hpp"
#include "fermata/sim/net/datagrams.hpp"
#include "fermata/sim/net/names.hpp"
#include "fermata/sim/net/streams.hpp"
#include "fermata/sim/posix/further_processes.hpp"
#include "fermata/sim/posix/kernel.hpp"
#include "fermata/sim/process/processes.hpp"
#include "fermata/sim/world/offload.hpp"
#include "fermata/sim/world/polls.hpp"
#include "fermata/sim/world/signals.hpp"
#include "fermata/sim/world/threads.hpp"
#include "fermata/sim/world/triggers.hpp"

namespace fermata::sim::detail {

class Network;
class NodeState;
class ProgramTable;

/// The simulated machine's environment that the parts of its reactor use.
struct Surroundings {
  Network& network;
  const ProgramTable& programs;
  Disk& disk;
  const SharedDisks& shared_disks;
  Terminal& terminal;
};

class SimReactor final : public backend::Reactor {
 public:
  SimReactor(NodeState& program, const Surroundings& around);

  [[nodiscard]] std::string_view name() const noexcept override { return "sim"; }
  [[nodiscard]] Instant now() noexcept override;
  [[nodiscard]] WallTime wall_clock() noexcept override;
  void attach(Runtime& runtime) override;
  std::vector<std::string> detach() noexcept override;
  /// Time that is not real passes in turns only: each look is one.
  [[nodiscard]] Duration turn_spacing() const noexcept override { return Duration::zero(); }
  void turn(backend::TurnMode mode, Instant wake_by) override;
  void wake() noexcept override;
  void watch_control_signals(std::span<const int> signums) override;

  bool linger() override { return threads_.linger(); }
  void shutdown_began() noexcept override { threads_.shut_down(); }
  void let_threads_in() noexcept override;

  [[nodiscard]] SimPolls& polls() override;
  [[nodiscard]] SimSignals& signals() override;
  [[nodiscard]] SimTriggers& triggers() override { return triggers_; }
  [[nodiscard]] SimStreams& streams() override;
  [[nodiscard]] SimDatagrams& datagrams() override;
  [[nodiscard]] SimFiles& files() override { return files_; }
  [[nodiscard]] SimFileWatches& file_watches() override { return file_watches_; }
  [[nodiscard]] SimNames& names() override { return names_; }
  [[nodiscard]] SimThreads& threads() override { return threads_; }
  [[nodiscard]] SimProcesses& processes() override;
  [[nodiscard]] SimOffload& offload() override { return offload_; }

  /// What foreign code sees of the machine.
  [[nodiscard]] SimKernel& kernel() noexcept { return kernel_; }
  /// Throws Unsupported in a thread.
  void begin_process(std::string_view name, std::function<void()> main);

  // --- the life of the program, for foreign code ---

  void life_begins();
  void main_ends();
  void program_ended();
  /// The process whose code runs, of those of the machine.
  [[nodiscard]] SimKernel& running_process() noexcept { return further_processes_.running(); }

  /// The step that runs takes `cost`.
  void consume(Duration cost);
  /// The step that runs uses what has a name with this key.
  void announced(std::uint64_t key, bool written);

 private:
  void meet_pause();
  void meet_clock_step();
  [[nodiscard]] Duration lateness();
  void happen();
  /// Throws Unsupported in a thread.
  void require_main(const char* part) const;

  NodeState& program_;
  std::uint64_t lateness_key_;
  std::uint64_t pause_key_;
  std::uint64_t clock_step_key_;
  std::uint64_t order_key_;
  fermata::detail::Attachment attachment_;
  SimPolls polls_;
  SimKernel kernel_;
  FurtherProcesses further_processes_;
  SimSignals signals_;
  SimTriggers triggers_;
  SimStreams streams_;
  SimDatagrams datagrams_;
  SimFiles files_;
  SimFileWatches file_watches_;
  SimNames names_;
  SimThreads threads_;
  SimProcesses processes_;
  SimOffload offload_;
  Instant last_turn_;
  bool in_turn_ = false;
};

}  // namespace fermata::sim::detail
