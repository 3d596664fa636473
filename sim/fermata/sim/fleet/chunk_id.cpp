// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fleet/chunk_id.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace fermata::sim::fleet {

namespace {
constexpr std::size_t kDigits = 16;
}  // namespace

std::string ChunkId::text() const { return fmt::format("{:016x}", value); }

std::optional<ChunkId> ChunkId::parse(std::string_view text) noexcept {
  constexpr std::string_view kHex = "0123456789abcdef";
  if (text.size() != kDigits || text.find_first_not_of(kHex) != std::string_view::npos) return {};
  ChunkId id;
  std::from_chars(text.data(), text.data() + text.size(), id.value, 16);
  return id;
}

}  // namespace fermata::sim::fleet
