// SPDX-License-Identifier: Apache-2.0
#pragma once

// One step of a run, down to each thing that happened in it and the code that made it happen. For
// two runs that should have been the same and were not.

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/runtime/base/source_place.hpp"
#include "fermata/runtime/base/time.hpp"
#include "fermata/runtime/core/observer.hpp"
#include "fermata/sim/tape/decision.hpp"

namespace fermata::sim {

class StepProbe final : public DecisionListener {
 public:
  /// The step as Failure::step counts. The one after the last has what came after all steps.
  explicit StepProbe(std::uint64_t step) noexcept : step_(step) {}

  /// What happened in the step.
  struct Item {
    /// Equal for things that are the same in the trace hash.
    std::uint64_t identity = 0;
    /// "makes 'writer' ready".
    std::string text;
    /// The return addresses, innermost first.
    std::vector<const void*> stack;
  };

  // --- told by the run ---

  void note(std::string_view machine, Trace kind, const Event* subject, std::uint64_t detail,
            Instant at, std::uint64_t step);
  void decided(const Decision& decision) override;

  // --- the step ---

  /// Whose step it was, when, and where that one had been suspended; empty when nobody's was.
  [[nodiscard]] const std::string& who() const noexcept { return who_; }
  [[nodiscard]] const std::vector<Item>& items() const noexcept { return items_; }
  /// What was not calm of late, until the step was over; a few.
  [[nodiscard]] const std::deque<Decision>& decisions() const noexcept { return decisions_; }

 private:
  void note_who(std::string_view machine, const Event& coroutine, bool begins, Instant at);

  std::uint64_t step_;
  bool over_ = false;
  std::string who_;
  std::vector<Item> items_;
  std::deque<Decision> decisions_;
  std::map<std::uint64_t, SourcePlace> suspended_;  // By the serial number of the coroutine.
};

}  // namespace fermata::sim
