// SPDX-License-Identifier: Apache-2.0
#pragma once

// The generators of a run: one for each stream, so that a new draw in one never shifts another.
// Integers only: the same numbers on every platform.

#include <array>
#include <cstddef>
#include <cstdint>

#include "fermata/base/assert.hpp"
#include "fermata/core/chooser.hpp"
#include "fermata/sim/base/key.hpp"

namespace fermata::sim {

/// Splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) noexcept : state_(seed) {}

  constexpr std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15;
    return mix(state_);
  }

  /// A number in [0, bound). REQUIRES: bound > 0.
  constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    FERMATA_ASSERT(bound > 0);
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
  }

 private:
  std::uint64_t state_;
};

inline constexpr std::size_t kStreams =
    static_cast<std::size_t>(backend::RandomStream::Workload) + 1;

class StreamGenerators {
 public:
  explicit constexpr StreamGenerators(std::uint64_t seed) noexcept : StreamGenerators() {
    reset(seed);
  }

  constexpr void reset(std::uint64_t seed) noexcept {
    std::uint64_t start = mix(seed);
    for (Random& generator : generators_) {
      generator = Random(start);
      start += 0xd1b54a32d192ed03;  // Far away in every generator's sequence.
    }
  }

  constexpr Random& operator[](backend::RandomStream stream) noexcept {
    return generators_[static_cast<std::size_t>(stream)];
  }

 private:
  constexpr StreamGenerators() noexcept
      : generators_{Random(0), Random(0), Random(0), Random(0),
                    Random(0), Random(0), Random(0), Random(0)} {}

  std::array<Random, kStreams> generators_;
};

}  // namespace fermata::sim
