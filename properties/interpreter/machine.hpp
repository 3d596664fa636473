// SPDX-License-Identifier: Apache-2.0
#pragma once

// One run of one program, from its start to the judgement on how it ended.

#include <cstdint>
#include <memory>

#include "fermata/sim/world/world.hpp"
#include "properties/interpreter/arena.hpp"
#include "properties/laws/law.hpp"
#include "properties/program/program.hpp"

namespace fermata::properties {

/// Runs programs one after another in an arena.
class Machine {
 public:
  /// Runs `program` inside the node of a world: what is wrong with it fails the world's run, and
  /// its trace and its time become part of the run's.
  Tally play(const Program& program, sim::World& world);

 private:
  /// What came of a run.
  struct Result {
    models::Complaint complaint;  // Empty when nothing is wrong.
    Tally tally;
    std::uint64_t trace_hash = 0;
    Duration virtual_time{};
  };

  /// `chooser` takes every decision; `wakes`, unless null, is told who wakes whom.
  Result run(backend::Chooser* chooser, const Program& program, sim::WakeListener* wakes);
  void judge_remains();

  std::unique_ptr<Arena> arena_ = std::make_unique<Arena>();
};

}  // namespace fermata::properties
