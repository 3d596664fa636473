// SPDX-License-Identifier: Apache-2.0
#pragma once

// A runtime on a fake kernel: who waits is woken at the instant when what it waits for holds, and
// at the end of its patience otherwise, however often calls are interrupted and answers are wrong;
// and it costs few waits.

#include <string>

#include "properties/kernel/backend_play.hpp"
#include "properties/kernel/waiters_script.hpp"

namespace fermata::properties {

inline constexpr std::uint8_t kWaitedFiles = 4;

/// What is wrong; empty for nothing.
[[nodiscard]] std::string play(const PlayedBackend& played, const WaitersScript& script);

}  // namespace fermata::properties
