// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "fermata/sim/record/failure.hpp"

namespace fermata::sim::detail {

/// The process's memory of what its tests found, for its exit code.
void note_verdict(Verdict verdict) noexcept;

/// The heaviest verdict noted so far.
[[nodiscard]] std::optional<Verdict> worst_verdict() noexcept;

}  // namespace fermata::sim::detail
