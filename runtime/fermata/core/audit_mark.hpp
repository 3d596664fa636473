// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace fermata::detail {

/// Scratch of the observer on an event: whether it has it on its list of things to look at, and
/// what it saw when it last looked.
struct AuditMark {
  enum Bit : std::uint8_t {
    kTouched = 1u << 0,
    kCountedActive = 1u << 1,
    kCountedQueued = 1u << 2,
    kWasClosed = 1u << 3,
  };
  std::uint8_t bits = 0;

  [[nodiscard]] bool has(Bit bit) const noexcept { return (bits & bit) != 0; }
  void set(Bit bit) noexcept { bits = static_cast<std::uint8_t>(bits | bit); }
  void unset(Bit bit) noexcept { bits = static_cast<std::uint8_t>(bits & ~bit); }
};

}  // namespace fermata::detail
