// SPDX-License-Identifier: Apache-2.0
#pragma once

// An exploration is cut into chunks, each for a process of its own. A chunk that a crash or an
// interruption has cut goes on in smaller ranges. A strategy learns within a range only, so that
// the runs of those are others than those of the whole chunk: as good, and each replays.

#include <cstdint>
#include <limits>

namespace fermata::sim::cli {

/// The runs [first, first + runs) of a test.
struct RunRange {
  std::uint64_t first = 0;
  std::uint64_t runs = 0;

  [[nodiscard]] std::uint64_t end() const noexcept { return first + runs; }
};

inline constexpr std::uint64_t kNoEnd = std::numeric_limits<std::uint64_t>::max();

/// The chunk number `index` of an exploration of `runs` runs; empty when there are not so many.
/// Small at first, so that few runs use all processors, then larger, so that starting processes
/// costs little. The same on every machine: what is found does not depend on how many explore.
[[nodiscard]] constexpr RunRange chunk(std::uint64_t index, std::uint64_t runs) noexcept {
  constexpr std::uint64_t kSmallest = 250;
  constexpr std::uint64_t kOfOneSize = 4;
  constexpr std::uint64_t kDoublings = 8;
  std::uint64_t first = 0;
  std::uint64_t size = kSmallest;
  for (std::uint64_t left = index, doublings = 0; left > 0; ++doublings) {
    const bool grows = doublings < kDoublings;
    const std::uint64_t taken = grows && left > kOfOneSize ? kOfOneSize : left;
    first += taken * size;
    left -= taken;
    if (grows && taken == kOfOneSize) size *= 2;
  }
  if (first >= runs) return {runs, 0};
  return {first, size < runs - first ? size : runs - first};
}

}  // namespace fermata::sim::cli
