// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a column holds and a parameter is: nothing (NULL), a truth value, an integer, a number, text
// or bytes. A Cell only refers to its text and bytes; a Value owns them.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fermata::db {

using Null = std::monostate;
using Bytes = std::vector<std::byte>;
using BytesView = std::span<const std::byte>;

using Cell = std::variant<Null, bool, std::int64_t, double, std::string_view, BytesView>;
using Value = std::variant<Null, bool, std::int64_t, double, std::string, Bytes>;

/// The parameters of a command, in order; valid until the call that takes them has returned.
using Parameters = std::span<const Cell>;

[[nodiscard]] Value own(const Cell& cell);
[[nodiscard]] Cell view(const Value& value) noexcept;

/// "NULL", "truth value", "integer", "number", "text", "bytes".
[[nodiscard]] std::string_view kind_of(const Cell& cell) noexcept;

}  // namespace fermata::db
