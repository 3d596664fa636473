// SPDX-License-Identifier: Apache-2.0
#pragma once

// Some steps of a run, down to each thing that happened in them and the code that made it happen.
// For two runs that should have been the same and were not.

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/source_place.hpp"
#include "fermata/base/time.hpp"
#include "fermata/core/observer.hpp"
#include "fermata/sim/tape/decision.hpp"

namespace fermata::sim {

class StepProbe final : public DecisionListener {
 public:
  /// The steps from `first` to `last`, as Failure::step counts. The one after the last of a run has
  /// what came after all steps.
  StepProbe(std::uint64_t first, std::uint64_t last) noexcept : first_(first), last_(last) {
    FERMATA_ASSERT(first <= last);
  }

  struct Item {
    /// Equal for things that are the same in the trace hash.
    std::uint64_t identity = 0;
    /// "makes 'writer' ready".
    std::string text;
    /// The return addresses, innermost first.
    std::vector<const void*> stack;
  };

  struct Step {
    /// The coroutine of the step, when it ran, and where it had been suspended; empty when the step
    /// was nobody's.
    std::string who;
    /// The events of the step.
    std::vector<Item> items;
    /// A few of the last decisions that were not calm, until the step was over.
    std::deque<Decision> decisions;
  };

  // --- told by the run ---

  void note(std::string_view machine, backend::Trace kind, const Event* subject,
            std::uint64_t detail, Instant at, std::uint64_t step);
  void decided(const Decision& decision) override;

  // --- the run ---

  /// A step; empty when nothing happened in it, or when it is not one of those that are looked at.
  [[nodiscard]] const Step& step(std::uint64_t number) const;

 private:
  [[nodiscard]] std::string who(std::string_view machine, const Event& coroutine, bool begins,
                                Instant at) const;

  std::uint64_t first_;
  std::uint64_t last_;
  std::map<std::uint64_t, Step> steps_;
  std::deque<Decision> decisions_;                  // The last few.
  std::map<std::uint64_t, SourcePlace> suspended_;  // By the machine and the serial number.
};

}  // namespace fermata::sim
