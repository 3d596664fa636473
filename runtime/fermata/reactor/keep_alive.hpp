// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "fermata/base/time.hpp"

namespace fermata::detail {

/// A time of silence as SocketOption::KeepAlive has it; nothing is 0, never. Throws UsageError,
/// whose text begins with `operation`, unless it is whole seconds, 1 to 32767.
[[nodiscard]] int keep_alive_seconds(std::optional<Duration> idle, std::string_view operation);

}  // namespace fermata::detail
