// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace fermata::db::sqlite {

/// The SQLSTATE for an extended result code and what SQLite says to it.
[[nodiscard]] std::string_view sqlstate_of(int code, std::string_view message) noexcept;

/// Whether nothing that the connection says after `code` can be trusted.
[[nodiscard]] bool loses_connection(int code) noexcept;

inline constexpr std::string_view kStaleStatement = "26000";
inline constexpr std::string_view kInterrupted = "57014";
inline constexpr std::string_view kSyntaxError = "42601";

}  // namespace fermata::db::sqlite
