// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/keep_alive.hpp"

#include <fmt/format.h>

#include <chrono>

#include "fermata/base/error.hpp"

namespace fermata::detail {

int keep_alive_seconds(std::optional<Duration> idle, std::string_view operation) {
  constexpr std::int64_t kMost = 32'767;
  if (!idle) return 0;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*idle);
  if (seconds != *idle || seconds.count() < 1 || seconds.count() > kMost) {
    throw UsageError(
        fmt::format("{}: {} ns: expected whole seconds, 1 to {}", operation, idle->count(), kMost));
  }
  return static_cast<int>(seconds.count());
}

}  // namespace fermata::detail
