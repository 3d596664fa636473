// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the audits of all nodes of one run write together.

#include <cstdint>
#include <string>
#include <vector>

#include "fermata/core/assertions.hpp"
#include "fermata/core/trace_hash.hpp"
#include "fermata/sim/record/catalogue.hpp"
#include "fermata/sim/record/failure.hpp"

namespace fermata::sim {
class Strategy;
}

namespace fermata::sim::detail {

class RunState {
 public:
  RunState() = default;
  RunState(const RunState&) = delete;
  RunState& operator=(const RunState&) = delete;

  /// The run has failed: it ends when the present step does.
  virtual void fail(Failure failure) = 0;

  /// What it has failed with, for people; empty when it has not.
  [[nodiscard]] virtual std::string why() const { return {}; }

  /// Nothing that still happens counts: programs are being unwound.
  [[nodiscard]] bool over() const noexcept { return hash.is_stopped(); }

  /// Stopped when the run is over.
  fermata::detail::TraceHash hash;
  std::uint64_t steps = 0;
  /// Number of the step of the last coroutine that came to run, counted like Failure::step: `steps`
  /// + 1 at that time.
  std::uint64_t begun = 0;
  std::vector<std::uint64_t> step_hashes;

  /// The strategy that wants to know of the steps; null: none does.
  Strategy* told_of_steps = nullptr;
  /// Whether that strategy also wants to know what the steps have used.
  bool wants_uses = false;
  /// The program has promised to announce what its coroutines share.
  bool sharing_announced = false;
  /// Something has taken part that does not tell what is done with it.
  bool sharing_unknown = false;

  /// Counts of each site of the program, by its index, over all runs so far.
  std::vector<AssertionCounts> assertions;
  /// What must still come to hold, and what has.
  fermata::detail::Pledge::List pledges;

 protected:
  ~RunState() = default;
};

}  // namespace fermata::sim::detail
