// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/step_cycle.hpp"

#include <algorithm>
#include <string_view>

#include "fermata/base/assert.hpp"

namespace fermata::sim {
namespace {

constexpr std::size_t kLongest = 256;  // Steps of a cycle.
constexpr std::size_t kFewest = 100;   // Steps that the repetitions have together.

bool looks_like(const RunLog::Step& a, const RunLog::Step& b) {
  return a.lane == b.lane && a.ending == b.ending && a.place.line == b.place.line &&
         std::string_view(a.place.file) == b.place.file;
}

/// How many steps before `end` look like the one `period` steps earlier.
std::size_t repeated(const RunLog& run_log, std::size_t end, std::size_t period) {
  FERMATA_ASSERT(period > 0);
  std::size_t count = 0;
  while (count + period < end) {
    const std::size_t at = end - count - 1;
    if (!looks_like(run_log.steps()[at], run_log.steps()[at - period])) break;
    ++count;
  }
  return count;
}

}  // namespace

std::optional<StepCycle> find_cycle(const RunLog& run_log, std::size_t end) {
  FERMATA_ASSERT(end <= run_log.steps().size());
  const std::size_t longest = std::min(kLongest, end / 3);
  for (std::size_t period = 1; period <= longest; ++period) {
    const std::size_t count = repeated(run_log, end, period) / period + 1;
    if (count < 3 || count * period < kFewest) continue;
    return StepCycle{.begin = end - period, .length = period, .count = count};
  }
  return std::nullopt;
}

}  // namespace fermata::sim
