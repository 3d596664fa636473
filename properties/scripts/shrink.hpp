// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "properties/scripts/law.hpp"

namespace fermata::properties::scripts {

/// The smallest script that RapidCheck finds, below the one `seed` stands for, which breaks the
/// same rule of `law` under one of a few schedules of `strategy`; as text, with what it breaks.
/// Empty when the script does not fail here.
[[nodiscard]] std::string shrunk(const Law& law, std::string_view strategy, std::uint64_t seed);

}  // namespace fermata::properties::scripts
