// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/moment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/tape/decision.hpp"

namespace fermata::sim {
namespace {

MomentOfRun after_step(const RunLog& run_log, std::uint64_t number) {
  const auto& steps = run_log.steps();
  const std::uint64_t first = steps.empty() ? 0 : steps.front().number;
  const std::uint64_t last = steps.empty() ? 0 : steps.back().number;
  if (number < first || number > last) {
    throw UsageError(
        fmt::format("there is no step {}; expected one from {} to {}", number, first, last));
  }
  const auto next = std::find_if(steps.begin(), steps.end(),
                                 [&](const RunLog::Step& step) { return step.number > number; });
  FERMATA_ASSERT(next != steps.begin());
  FERMATA_ASSERT(std::prev(next)->number <= number);
  const auto begun = static_cast<std::size_t>(next - steps.begin());
  const Instant at = steps[begun - 1].at;
  return {.steps = run_log.forgotten() + begun,
          .at = at,
          .text = fmt::format("after step {}, {}", number, describe(at))};
}

MomentOfRun at_time(const RunLog& run_log, Instant time) {
  if (time > run_log.end()) {
    throw UsageError(fmt::format("there is no time {}; the run ends at {}", describe(time),
                                 describe(run_log.end())));
  }
  FERMATA_ASSERT(time >= Instant{});
  return {.is_time = true, .at = time, .text = "at " + describe(time)};
}

}  // namespace

MomentOfRun find_moment(const RunLog& run_log, const Moment& moment) {
  FERMATA_ASSERT(!moment.step || !moment.time);
  if (moment.step) return after_step(run_log, *moment.step);
  if (moment.time) return at_time(run_log, *moment.time);
  return {.steps = std::numeric_limits<std::size_t>::max(),
          .at = run_log.end(),
          .text = "at the end of the run, " + describe(run_log.end())};
}

}  // namespace fermata::sim
