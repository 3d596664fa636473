// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which steps of a run led to others: a coroutine runs because of what it did before, because a
// step woke it, because a coroutine that it had spawned ended, and because a message arrived that a
// step had sent.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fermata/sim/record/run_log.hpp"

namespace fermata::sim {

/// The steps that led to some steps of a run, with how close each of them is.
///
/// A step is named by its index among those that the run log has kept.
class CausalSlice {
 public:
  /// `effects` is what is to be explained. `run_log` must outlive the result.
  CausalSlice(const RunLog& run_log, const std::vector<std::size_t>& effects);

  /// How far a step is from the closest effect, 0 for an effect itself; empty when it led to none.
  /// What woke a coroutine is closer to it than what it did before.
  [[nodiscard]] std::optional<std::uint64_t> distance(std::size_t step) const;

  /// The shortest way from this step to an effect, both included; empty when it led to none.
  [[nodiscard]] std::vector<std::size_t> path_from(std::size_t step) const;

 private:
  struct Cause {
    std::size_t step;
    std::uint64_t distance;
  };

  [[nodiscard]] std::vector<Cause> causes_of(std::size_t step) const;
  [[nodiscard]] std::optional<std::size_t> kept(std::size_t ordinal) const;
  void find_previous_steps();
  void find_ended_children();
  void spread(const std::vector<std::size_t>& effects);

  const RunLog& run_log_;
  /// What the coroutine of each step did before; of a program's first step what its machine did.
  std::vector<std::optional<std::size_t>> previous_;
  /// The steps in which children of a step's coroutine ended, since that coroutine ran before.
  std::vector<std::vector<std::size_t>> ended_children_;
  std::vector<std::uint64_t> distances_;
  std::vector<std::size_t> next_;  // On the way to an effect; of an effect the step itself.
};

}  // namespace fermata::sim
