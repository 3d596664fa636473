// SPDX-License-Identifier: Apache-2.0
#pragma once

// An exploration in a fork of this process, for programs that explore from code: when a run kills
// the fork, or does not end, this process says which one it was and how to repeat it.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "fermata/sim/run/process/shared_status.hpp"

namespace fermata::sim {

/// How long one run may take, in real time: `times` as long as the longest one so far, and never
/// less than `least`. Programs whose runs grow slowly are not taken for hanging, and those whose
/// runs take milliseconds are not waited for an hour.
struct WatchLimits {
  std::chrono::milliseconds least{60'000};
  unsigned times = 100;
};

/// An exploration that records its progress: SharedStatus::name() for what it explores, and
/// StatusPage::run before each run. The page is a temporary file, so that it survives when both
/// processes are killed.
using WatchedExploration = std::function<int(const SharedStatus& status)>;

/// The line that repeats everything called `name` up to run `run`, counted from 0.
using ReproduceLine = std::function<std::string(std::string_view name, std::uint64_t run)>;

/// Calls `explore` in a fork, and returns what it returns. When the fork dies the result is 9, when
/// a run takes too long it is killed and the result is 124; the standard error stream then has the
/// run and `reproduce`. Throws InputOutputError when there is no fork to be had, or no file.
[[nodiscard]] int explore_watched(const WatchedExploration& explore, const ReproduceLine& reproduce,
                                  WatchLimits limits = {});

}  // namespace fermata::sim
