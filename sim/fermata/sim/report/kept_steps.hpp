// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which steps of a run its page has. A page of every step of a livelock would be too large to open:
// of a cycle only the first and the last repetitions are kept, and of a run that is still too long
// its beginning and its end.

#include <cstddef>
#include <optional>
#include <vector>

#include "fermata/sim/record/run_log.hpp"

namespace fermata::sim {

class KeptSteps {
 public:
  static constexpr std::size_t kMostAtBegin = 2'000;
  static constexpr std::size_t kMostAtEnd = 6'000;

  /// Steps that are left out before the kept step `before`.
  struct Gap {
    std::size_t before = 0;
    std::size_t steps = 0;
  };

  /// Keeps all steps, or with `for_page` those that a page has room for.
  KeptSteps(const RunLog& run_log, bool for_page);

  /// Whether a step is kept, counted from the run's first one.
  [[nodiscard]] bool has(std::size_t step) const;
  /// How many kept steps come before this one.
  [[nodiscard]] std::size_t index_of(std::size_t step) const;
  /// The kept steps, as indexes of the run log's.
  [[nodiscard]] const std::vector<std::size_t>& steps() const noexcept { return steps_; }
  [[nodiscard]] const std::vector<Gap>& gaps() const noexcept { return gaps_; }

 private:
  void choose(const RunLog& run_log);
  void leave_out(std::size_t begin, std::size_t end);

  std::size_t forgotten_;
  std::vector<bool> kept_;
  std::vector<std::size_t> steps_;
  std::vector<Gap> gaps_;
};

}  // namespace fermata::sim
