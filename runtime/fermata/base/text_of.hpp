// SPDX-License-Identifier: Apache-2.0
#pragma once

// Values in messages. The same everywhere: independent of the locale.

#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "fermata/base/time.hpp"

namespace fermata::detail {

/// In as few digits as tell it from all others.
template <class Float>
[[nodiscard]] std::string shortest_text_of(Float number) {
  std::array<char, 64> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  return std::string(buffer.data(), end);
}

/// The text of a number, an enumerator (as its number), a text, a duration, or any type with a
/// to_string() found by argument-dependent lookup.
template <class T>
[[nodiscard]] std::string text_of(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return std::string(std::string_view(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, char>) {
    return std::string("'") + value + "'";
  } else if constexpr (std::is_enum_v<T>) {
    return text_of(static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return shortest_text_of(value);
  } else if constexpr (std::is_same_v<T, Instant>) {
    return std::to_string(value.nanoseconds) + " ns";
  } else if constexpr (std::is_convertible_v<const T&, std::chrono::nanoseconds>) {
    return std::to_string(std::chrono::nanoseconds(value).count()) + " ns";
  } else {
    return std::string(to_string(value));
  }
}

/// The C library's words for an errno; those of `strerror` are in the language of the program.
[[nodiscard]] inline std::string errno_text(int code) {
  const char* const text = ::strerrordesc_np(code);
  return text != nullptr ? text : "Unknown error " + std::to_string(code);
}

}  // namespace fermata::detail
