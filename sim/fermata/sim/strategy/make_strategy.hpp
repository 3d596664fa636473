// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "fermata/sim/tape/strategy.hpp"

namespace fermata::sim {

/// `portfolio`, `random`, `urw`, `pos`, `pct:D`, `delay:D`, `dfs`, `dfs:N`, `fifo` or `calm`, with
/// what was learnt behind it (`pct:D:k=N:waits=KEY.N`); or `bytes:HEX`, an input of a fuzzer.
/// Throws fermata::Error, which lists the strategies to explore with, for any other text.
[[nodiscard]] std::unique_ptr<Strategy> make_strategy(std::string_view name);

}  // namespace fermata::sim
