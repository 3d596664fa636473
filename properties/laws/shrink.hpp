// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "properties/laws/law.hpp"

namespace fermata::properties {

/// What `program` breaks under a few schedules of `strategy` that follow from `seed`, or nothing.
[[nodiscard]] models::Complaint first_complaint(const Program& program, std::string_view strategy,
                                                std::uint64_t seed);

/// The smallest program that RapidCheck finds, below the one `seed` stands for, which breaks the
/// same rule of `law` under one of a few schedules of `strategy`; as text, with what it breaks.
/// Empty when the program does not fail here.
[[nodiscard]] std::string shrunk(const Law& law, std::string_view strategy, std::uint64_t seed);

}  // namespace fermata::properties
