// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/base/seed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"

namespace fermata::sim {
namespace {

constexpr std::size_t kCommitDigits = 40;

bool is_hexadecimal(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

char lower(char c) noexcept {
  FERMATA_ASSERT(is_hexadecimal(c));
  return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::uint64_t parse_seed(std::string_view text) {
  if (text.size() == kCommitDigits && std::all_of(text.begin(), text.end(), is_hexadecimal)) {
    std::string commit(text);
    std::transform(commit.begin(), commit.end(), commit.begin(), lower);
    return key_of(commit);
  }
  const bool prefixed = text.substr(0, 2) == "0x";
  const std::string_view digits = text.substr(prefixed ? 2 : 0);
  std::uint64_t seed = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, seed, prefixed ? 16 : 10);
  if (error != std::errc() || stop != end) {
    throw UsageError(
        fmt::format("'{}' is not a valid seed; expected decimal digits, 0x and up to 16 hex "
                    "digits, or 40 hex digits",
                    text));
  }
  return seed;
}

std::string seed_text(std::uint64_t seed) {
  std::string text = fmt::format("{:#x}", seed);
  FERMATA_ASSERT(parse_seed(text) == seed);
  return text;
}

}  // namespace fermata::sim
