// SPDX-License-Identifier: Apache-2.0
#pragma once

// Types of PostgreSQL, by the numbers that its catalogue gives them, and how their values are
// written: as text, or in the binary formats of truth values, integers, numbers, text and bytes.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fermata/db/value.hpp"

namespace fermata::sim::postgresql {

using Oid = std::uint32_t;

namespace oid {
inline constexpr Oid kUnknown = 0;
inline constexpr Oid kBool = 16;
inline constexpr Oid kBytes = 17;
inline constexpr Oid kInt8 = 20;
inline constexpr Oid kInt2 = 21;
inline constexpr Oid kInt4 = 23;
inline constexpr Oid kText = 25;
inline constexpr Oid kFloat4 = 700;
inline constexpr Oid kFloat8 = 701;
inline constexpr Oid kNumeric = 1700;
inline constexpr Oid kVoid = 2278;
}  // namespace oid

enum class Format : std::uint8_t { Text, Binary };

/// The type that begins with this word in a definition of a column; that of text for others.
[[nodiscard]] Oid type_named(std::string_view word) noexcept;
[[nodiscard]] std::string_view name_of(Oid type) noexcept;
/// The size of a value in binary, or -1 when values differ in it.
[[nodiscard]] int size_of(Oid type) noexcept;

enum class Category : std::uint8_t { Truth, Number, Bytes, Text };
[[nodiscard]] Category category_of(Oid type) noexcept;

/// What a parameter of `type` says. Throws SqlError: 22P02 and 22P03 for what is not a value of it,
/// 0A000 for a binary format that is not known here.
[[nodiscard]] db::Value decode(Oid type, Format format, std::string_view bytes);

/// A value in a column of `type`; nothing for NULL. Throws SqlError: 42804 for a value of another
/// kind, 0A000 as decode().
[[nodiscard]] std::optional<std::string> encode(Oid type, Format format, const db::Value& value);

}  // namespace fermata::sim::postgresql
