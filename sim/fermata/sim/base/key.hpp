// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names of draws as numbers: hashes of what a draw is about, never of an address, a line or a
// position. The same on every platform and compiler.

#include <cstdint>
#include <string_view>

namespace fermata::sim {

/// Spreads the bits of `x` (the finaliser of splitmix64); a bijection.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// The key of `part` inside `whole`; the order of the two matters.
[[nodiscard]] constexpr std::uint64_t key_of(std::uint64_t whole, std::uint64_t part) noexcept {
  return mix(whole * 0xd1342543de82ef95 + part + 0x9e3779b97f4a7c15);
}

/// The key of a text, say of an operation's kind or of an object's name.
[[nodiscard]] constexpr std::uint64_t key_of(std::string_view text) noexcept {
  std::uint64_t key = text.size();
  std::uint64_t word = 0;
  unsigned bits = 0;
  for (const char letter : text) {
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(letter)) << bits;
    bits += 8;
    if (bits == 64) {
      key = key_of(key, word);
      word = 0;
      bits = 0;
    }
  }
  return bits == 0 ? key : key_of(key, word);
}

[[nodiscard]] constexpr std::uint64_t key_of(std::uint64_t whole, std::string_view part) noexcept {
  return key_of(whole, key_of(part));
}

}  // namespace fermata::sim
