// SPDX-License-Identifier: Apache-2.0
#pragma once

// The random numbers of tests: the same sequence from the same seed on every platform.

#include <cstdint>

namespace fermata::test {

class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebULL;
    return mixed ^ (mixed >> 31);
  }

  /// A number in [0, bound).
  std::size_t below(std::size_t bound) noexcept { return static_cast<std::size_t>(next() % bound); }

  /// True once in `times` draws.
  bool once_in(std::size_t times) noexcept { return below(times) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace fermata::test
