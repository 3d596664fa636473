// SPDX-License-Identifier: Apache-2.0
#pragma once

// xoshiro256** seeded by splitmix64, with a bounded draw by multiplication: the floor of a draw.

#include <cstdint>

namespace bench {

class Random final {
 public:
  explicit Random(std::uint64_t seed = 1) {
    for (std::uint64_t& word : state_) word = split(seed);
  }

  std::uint64_t next() {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  /// Uniform in [0, bound) up to a bias of bound / 2^32. REQUIRES: 0 < bound < 2^32.
  std::uint64_t below(std::uint64_t bound) { return ((next() >> 32) * bound) >> 32; }

 private:
  static std::uint64_t rotate(std::uint64_t word, int bits) {
    return (word << bits) | (word >> (64 - bits));
  }

  static std::uint64_t split(std::uint64_t& seed) {
    std::uint64_t word = (seed += 0x9e3779b97f4a7c15);
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
  }

  std::uint64_t state_[4];
};

}  // namespace bench
