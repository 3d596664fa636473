// SPDX-License-Identifier: Apache-2.0
#pragma once

// Processes of a simulated machine: children that perform scripts. Those of a crash die with it.

#include <map>
#include <memory>

#include "fermata/reactor/processes.hpp"
#include "fermata/sim/process/child.hpp"

namespace fermata::sim::detail {

class Machine;
class Network;
class ProgramTable;

class SimProcesses final : public backend::Processes {
 public:
  SimProcesses(fermata::detail::Attachment& attachment, Machine& machine, Network& network,
               const ProgramTable& programs)
      : backend::Processes(attachment),
        attachment_(attachment),
        machine_(machine),
        network_(network),
        programs_(programs) {}

  /// The run is over: no child goes on.
  void stop_children() noexcept { children_.clear(); }

 private:
  Started start(const ProcessOptions& options) override;
  std::optional<ProcessExit> collect(int pid) noexcept override;
  int send(int pid, int signum) override;
  [[nodiscard]] SimChild* find(int pid) const noexcept;
  /// Tells the run log what the present step asks for.
  void note_call(std::string text);

  fermata::detail::Attachment& attachment_;
  Machine& machine_;
  Network& network_;
  const ProgramTable& programs_;
  std::map<int, std::unique_ptr<SimChild>> children_;
  int next_pid_ = 1000;
};

}  // namespace fermata::sim::detail
