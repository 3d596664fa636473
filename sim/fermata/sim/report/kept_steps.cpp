// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/kept_steps.hpp"

#include <algorithm>

#include "fermata/base/assert.hpp"
#include "fermata/sim/report/step_cycle.hpp"

namespace fermata::sim {
namespace {

constexpr std::size_t kRepetitions =
    3;  // That are kept at the beginning of a cycle, and at its end.

}  // namespace

KeptSteps::KeptSteps(const RunLog& run_log, bool for_page)
    : forgotten_(run_log.forgotten()), kept_(run_log.steps().size(), true) {
  if (for_page) choose(run_log);
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    if (kept_[i]) {
      steps_.push_back(i);
    } else if (i > 0 && !kept_[i - 1]) {
      ++gaps_.back().steps;
    } else {
      gaps_.push_back({.before = steps_.size(), .steps = 1});
    }
  }
}

void KeptSteps::choose(const RunLog& run_log) {
  const std::size_t count = kept_.size();
  if (const auto cycle = find_cycle(run_log, count); cycle && cycle->count > 2 * kRepetitions) {
    FERMATA_ASSERT(cycle->length * cycle->count <= count);
    const std::size_t first = count - cycle->length * cycle->count;
    const std::size_t at_each_end = kRepetitions * cycle->length;
    leave_out(first + at_each_end, count - at_each_end);
  }
  const auto left = static_cast<std::size_t>(std::count(kept_.begin(), kept_.end(), true));
  if (left > kMostAtBegin + kMostAtEnd) leave_out(kMostAtBegin, count - kMostAtEnd);
}

bool KeptSteps::has(std::size_t step) const {
  return step >= forgotten_ && step - forgotten_ < kept_.size() && kept_[step - forgotten_];
}

std::size_t KeptSteps::index_of(std::size_t step) const {
  const std::size_t at = step - std::min(step, forgotten_);
  return static_cast<std::size_t>(std::lower_bound(steps_.begin(), steps_.end(), at) -
                                  steps_.begin());
}

void KeptSteps::leave_out(std::size_t begin, std::size_t end) {
  FERMATA_ASSERT(begin <= end);
  FERMATA_ASSERT(end <= kept_.size());
  std::fill(kept_.begin() + static_cast<std::ptrdiff_t>(begin),
            kept_.begin() + static_cast<std::ptrdiff_t>(end), false);
}

}  // namespace fermata::sim
