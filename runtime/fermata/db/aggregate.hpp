// SPDX-License-Identifier: Apache-2.0
#pragma once

// The fields of an aggregate, without naming them.

#include <cstddef>
#include <optional>
#include <tuple>

namespace fermata::db::detail {

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

/// Becomes whatever a field of an aggregate is; never called.
struct AnyType {
  template <class T>
  requires(!kIsOptional<T>) operator T() const;
};

/// How many fields the aggregate T has.
template <class T, class... Fields>
consteval std::size_t field_count() {
  if constexpr (requires { T{Fields()..., AnyType()}; }) {
    return field_count<T, Fields..., AnyType>();
  } else {
    return sizeof...(Fields);
  }
}

inline constexpr std::size_t kFieldsMax = 12;

/// References to the fields of an aggregate.
template <std::size_t kCount, class T>
auto fields_of(T& row) {
  static_assert(kCount >= 1 && kCount <= kFieldsMax, "an aggregate of 1 to 12 fields");
  if constexpr (kCount == 1) {
    auto& [a] = row;
    return std::tie(a);
  } else if constexpr (kCount == 2) {
    auto& [a, b] = row;
    return std::tie(a, b);
  } else if constexpr (kCount == 3) {
    auto& [a, b, c] = row;
    return std::tie(a, b, c);
  } else if constexpr (kCount == 4) {
    auto& [a, b, c, d] = row;
    return std::tie(a, b, c, d);
  } else if constexpr (kCount == 5) {
    auto& [a, b, c, d, e] = row;
    return std::tie(a, b, c, d, e);
  } else if constexpr (kCount == 6) {
    auto& [a, b, c, d, e, f] = row;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (kCount == 7) {
    auto& [a, b, c, d, e, f, g] = row;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (kCount == 8) {
    auto& [a, b, c, d, e, f, g, h] = row;
    return std::tie(a, b, c, d, e, f, g, h);
  } else if constexpr (kCount == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = row;
    return std::tie(a, b, c, d, e, f, g, h, i);
  } else if constexpr (kCount == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = row;
    return std::tie(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (kCount == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = row;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (kCount == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = row;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
  }
}

}  // namespace fermata::db::detail
