// SPDX-License-Identifier: Apache-2.0
#pragma once

// Amounts as the sentences of a report have them.

#include <cstddef>
#include <cstdint>
#include <string>

#include "fermata/base/time.hpp"

namespace fermata::sim {

/// "12 ms", "0.4 ms", "20 us", "1.311 s": at most three digits behind the point.
[[nodiscard]] std::string amount(Duration duration);

/// "+0.4 ms", as amount().
[[nodiscard]] std::string moment(Instant at);

/// "1st", "2nd", "3rd", "11th".
[[nodiscard]] std::string ordinal(std::uint64_t number);

/// "3 of 10 bytes".
[[nodiscard]] std::string part_of_bytes(std::size_t part, std::size_t whole);

}  // namespace fermata::sim
