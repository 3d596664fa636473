// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fermata::sim::fleet {

/// The identity of a chunk: a hash of everything that its result depends on.
struct ChunkId {
  std::uint64_t value = 0;

  /// 16 hexadecimal digits.
  [[nodiscard]] std::string text() const;
  /// Nothing when `text` is not what text() gives.
  [[nodiscard]] static std::optional<ChunkId> parse(std::string_view text) noexcept;

  friend auto operator<=>(const ChunkId&, const ChunkId&) = default;
};

}  // namespace fermata::sim::fleet
