// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/value.hpp"

#include <array>
#include <type_traits>

namespace fermata::db {

Value own(const Cell& cell) {
  return std::visit(
      [](const auto& held) -> Value {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::string_view>) return std::string(held);
        if constexpr (std::is_same_v<Held, BytesView>) return Bytes(held.begin(), held.end());
        if constexpr (std::is_constructible_v<Value, std::in_place_type_t<Held>>) return held;
      },
      cell);
}

Cell view(const Value& value) noexcept {
  return std::visit(
      [](const auto& held) -> Cell {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::string>) return std::string_view(held);
        if constexpr (std::is_same_v<Held, Bytes>) return BytesView(held);
        if constexpr (!std::is_same_v<Held, std::string> && !std::is_same_v<Held, Bytes>) {
          return held;
        }
      },
      value);
}

std::string_view kind_of(const Cell& cell) noexcept {
  static constexpr std::array<std::string_view, std::variant_size_v<Cell>> kKinds = {
      "NULL", "truth value", "integer", "number", "text", "bytes"};
  return kKinds[cell.index()];
}

}  // namespace fermata::db
