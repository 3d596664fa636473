// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fermata/sim/base/key.hpp"

namespace fermata::sim {

/// Decimal digits, `0x` and at most 16 hexadecimal ones, or exactly 40 hexadecimal digits (a
/// commit, which is hashed). Throws UsageError for any other text.
[[nodiscard]] std::uint64_t parse_seed(std::string_view text);

/// "0x2a", which parse_seed reads.
[[nodiscard]] std::string seed_text(std::uint64_t seed);

/// The seed of the run number `run` of an exploration; run 0 has the base itself, so that a seed
/// alone means exactly that run.
[[nodiscard]] constexpr std::uint64_t run_seed(std::uint64_t base, std::uint64_t run) noexcept {
  return run == 0 ? base : key_of(base, run);
}

}  // namespace fermata::sim
