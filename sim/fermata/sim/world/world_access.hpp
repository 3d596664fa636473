// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the harness does with a world, and users do not: it attaches instruments, reads what they
// have kept, and passes on what the run prints.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/sim/record/catalogue.hpp"
#include "fermata/sim/world/instruments.hpp"
#include "fermata/sim/world/world.hpp"

namespace fermata::sim::detail {

class WorldState;

/// The harness's side of a world, which must outlive this.
class WorldAccess {
 public:
  explicit WorldAccess(const World& world) noexcept : state_(*world.state_) {}

  /// Prepares the world for another run, as World::reset(), with these instruments.
  void reset(const WorldOptions& options, const Instruments& instruments);

  // --- the run in progress, or the last one ---

  [[nodiscard]] const Instruments& instruments() const noexcept;
  /// The number of the present step, or of the last one; as in Failure::step.
  [[nodiscard]] std::uint64_t present_step() const noexcept;
  /// Label of the coroutine whose code runs; empty when none does.
  [[nodiscard]] std::string current_coroutine() const;
  /// Name of the machine whose code runs; empty when none does.
  [[nodiscard]] std::string current_machine() const;
  /// The trace hash after each step; empty unless `record_steps`.
  [[nodiscard]] const std::vector<std::uint64_t>& step_hashes() const noexcept;
  /// How often the assertions of the program were reached and held, in all runs of this world so
  /// far: by AssertionSite::index, one entry for each site that any run has reached or that has a
  /// lower index. Searches look here for new behaviour.
  [[nodiscard]] std::span<const AssertionCounts> assertion_counts() const noexcept;
  /// Restores the counts from before runs that are not to be counted.
  void set_assertion_counts(std::vector<AssertionCounts> counts) noexcept;
  /// The records of History objects, each as a JSON object; only of a run with a run log.
  [[nodiscard]] const std::vector<std::string>& histories() const noexcept;
  /// Keeps `json` for a History, in place of what the call that returned `number` kept.
  std::size_t keep_history(std::optional<std::size_t> number, std::string json);
  /// Passes on what a run prints: `text`, which has no newline, was printed now; `continues`: on
  /// the line of what was printed before. Only the run log, if any, is told.
  void printed(std::string_view text, bool continues);

 private:
  WorldState& state_;
};

}  // namespace fermata::sim::detail
