// SPDX-License-Identifier: Apache-2.0
#pragma once

// Processes of a simulated machine: children that perform scripts. Those of a crash die with it.

#include <map>
#include <memory>

#include "fermata/reactor/processes.hpp"
#include "fermata/sim/process/child.hpp"

namespace fermata::sim::detail {

class NodeState;

class SimProcesses final : public Processes {
 public:
  SimProcesses(fermata::detail::Attachment& attachment, NodeState& node)
      : Processes(attachment), attachment_(attachment), node_(node) {}

  /// The run is over: no child goes on.
  void stop_children() noexcept { children_.clear(); }

 private:
  Started start(const ProcessOptions& options) override;
  std::optional<ProcessExit> collect(int pid) noexcept override;
  int send(int pid, int signum) override;
  [[nodiscard]] SimChild* find(int pid) const noexcept;

  fermata::detail::Attachment& attachment_;
  NodeState& node_;
  std::map<int, std::unique_ptr<SimChild>> children_;
  int next_pid_ = 1000;
};

}  // namespace fermata::sim::detail
