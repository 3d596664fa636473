// SPDX-License-Identifier: Apache-2.0
#pragma once

// One run of one program, from its start to the judgement on how it ended.

#include <cstdint>
#include <memory>

#include "properties/interpreter/arena.hpp"
#include "properties/program/program.hpp"

namespace fermata::properties {

/// What came of a run that had nothing wrong.
struct Tally {
  std::uint64_t steps = 0;
  std::uint64_t trace_hash = 0;
  Duration virtual_time{};
  std::uint32_t coroutines = 0;
  std::uint32_t deadlocks = 0;
  std::uint32_t shutdowns = 0;
};

/// Runs programs one after another in an arena.
class Machine {
 public:
  /// `chooser` takes every decision; `wakes`, unless null, is told who wakes whom. Returns what is
  /// wrong with the run; empty when nothing.
  models::Complaint run(Chooser* chooser, const Program& program,
                        sim::WakeListener* wakes = nullptr);
  [[nodiscard]] const Tally& tally() const noexcept { return tally_; }

 private:
  void judge_remains();

  std::unique_ptr<Arena> arena_ = std::make_unique<Arena>();
  Tally tally_;
};

}  // namespace fermata::properties
