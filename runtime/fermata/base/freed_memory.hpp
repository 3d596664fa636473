// SPDX-License-Identifier: Apache-2.0
#pragma once

// What freed blocks are filled with in simulation, so that whoever still uses one fails at once.

#include <cstdint>

namespace fermata::detail {

/// Followed as a pointer it leads to no memory.
inline constexpr std::uint64_t kFreedPattern = 0x0000'6EED'F4EE'D000;

/// Whether `address` is that of a member of an object that kFreedPattern would point to.
[[nodiscard]] inline bool is_near_freed_pattern(const void* address) noexcept {
  constexpr std::uint64_t kObjectBytesMax = 1 << 16;
  return reinterpret_cast<std::uintptr_t>(address) - kFreedPattern < kObjectBytesMax;
}

}  // namespace fermata::detail
