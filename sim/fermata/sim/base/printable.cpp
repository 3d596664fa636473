// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/base/printable.hpp"

#include <algorithm>

#include "fermata/base/assert.hpp"

namespace fermata::sim {

namespace {

std::string letters(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte each : bytes) {
    const char letter = static_cast<char>(each);
    text += letter >= ' ' && letter <= '~' ? letter : '.';
  }
  return text;
}

}  // namespace

std::string printable(std::span<const std::byte> bytes, std::size_t size, std::size_t most) {
  FERMATA_ASSERT(bytes.size() <= size);
  if (bytes.size() < size) return letters(bytes.first(std::min(bytes.size(), most))) + "...";
  if (size <= most) return letters(bytes);
  const std::size_t tail = most / 3;
  return letters(bytes.first(most - tail)) + "..." + letters(bytes.last(tail));
}

}  // namespace fermata::sim
