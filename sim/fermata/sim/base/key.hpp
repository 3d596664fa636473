// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names of draws as numbers: hashes of what a draw is about, never of an address, a line or a
// position. The same on every platform and compiler.

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "fermata/base/assert.hpp"

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

/// Up to eight bytes of a text as a number, the first one lowest.
[[nodiscard]] constexpr std::uint64_t word_of(std::string_view text) noexcept {
  FERMATA_ASSERT(text.size() <= sizeof(std::uint64_t));
  std::uint64_t word = 0;
  if (!std::is_constant_evaluated() && std::endian::native == std::endian::little) {
    const char* const end = text.data() + text.size();
    if (text.size() == sizeof word) {
      std::memcpy(&word, text.data(), sizeof word);
      return word;
    }
    if (text.size() >= sizeof(std::uint32_t)) {  // Two halves, which may overlap.
      std::uint32_t low = 0;
      std::uint32_t high = 0;
      std::memcpy(&low, text.data(), sizeof low);
      std::memcpy(&high, end - sizeof high, sizeof high);
      return std::uint64_t{high} << 8 * (text.size() - sizeof high) | low;
    }
  }
  unsigned bits = 0;
  for (const char letter : text) {
    word |= static_cast<std::uint64_t>(static_cast<unsigned char>(letter)) << bits;
    bits += 8;
  }
  return word;
}

/// The key of a text, say of an operation's kind or of an object's name.
[[nodiscard]] constexpr std::uint64_t key_of(std::string_view text) noexcept {
  std::uint64_t key = text.size();
  for (; text.size() >= sizeof key; text.remove_prefix(sizeof key)) {
    key = key_of(key, word_of(text.substr(0, sizeof key)));
  }
  return text.empty() ? key : key_of(key, word_of(text));
}

[[nodiscard]] constexpr std::uint64_t key_of(std::uint64_t whole, std::string_view part) noexcept {
  return key_of(whole, key_of(part));
}

}  // namespace fermata::sim
