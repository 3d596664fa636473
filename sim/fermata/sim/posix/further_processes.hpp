// SPDX-License-Identifier: Apache-2.0
#pragma once

// Processes of a machine beside the one that its program is, for code that was not written for
// Fermata.
//
// Own      Descriptors, threads, signals, memory, and the variables of foreign libraries.
// Shared   The machine with its network, its disk and its names.
// Threads  All of a process, its main one as well, are coroutines of the machine's program. While
//          one of them has control, its process is served.
// The end  When its main returns, or with the machine's program.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/sim/posix/descriptor_table.hpp"
#include "fermata/sim/posix/kernel.hpp"

namespace fermata::sim::detail {

class FurtherProcesses {
 public:
  /// `first` is the machine's program, and outlives it.
  FurtherProcesses(SimKernel& first, Machine& machine, Network& network, Disk& disk) noexcept;
  FurtherProcesses(const FurtherProcesses&) = delete;
  FurtherProcesses& operator=(const FurtherProcesses&) = delete;
  ~FurtherProcesses();

  /// What serves the code that runs now.
  [[nodiscard]] SimKernel& running() const noexcept { return *running_; }
  /// Begins one, whose program is `main`. REQUIRES: a coroutine of the machine's program runs.
  void begin(std::string_view name, std::function<void()> main);

  /// The machine's program begins.
  void begin_life();
  /// Its main coroutine is about to end.
  void main_ends();
  /// It has ended, by itself or by force.
  void program_ended();
  /// What is still open is closed.
  void end_life();

 private:
  class Process;

  void enter(SimKernel& kernel) noexcept;

  SimKernel& first_;
  Machine& machine_;
  Network& network_;
  Disk& disk_;
  SimKernel* running_;
  std::vector<std::unique_ptr<Process>> processes_;
};

}  // namespace fermata::sim::detail
