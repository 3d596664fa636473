// SPDX-License-Identifier: Apache-2.0
#pragma once

// For messages about names that do not exist: which one was meant.

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fermata::sim {

/// The candidate that is nearest to `name`; the first of equally near ones. Nothing when none is
/// near: with a typing error for each three letters, two at most, or with the beginning of a
/// candidate, three letters at least. Upper and lower case count as the same.
[[nodiscard]] std::optional<std::string_view> nearest(std::string_view name,
                                                      std::span<const std::string_view> candidates);

/// "; did you mean lossy?", for the end of a message; empty when no candidate is near.
[[nodiscard]] std::string suggestion(std::string_view name,
                                     std::span<const std::string_view> candidates);

}  // namespace fermata::sim
