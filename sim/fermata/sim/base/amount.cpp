// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/base/amount.hpp"

#include <fmt/format.h>

#include <string_view>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/counted.hpp"

namespace fermata::sim {
namespace {

std::string in_unit(std::int64_t nanoseconds, std::int64_t unit, std::string_view name) {
  constexpr std::int64_t kParts = 1000;
  FERMATA_ASSERT(unit % kParts == 0);
  const std::int64_t rest = nanoseconds % unit / (unit / kParts);
  std::string number = fmt::format("{}.{:03}", nanoseconds / unit, rest);
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return fmt::format("{} {}", number, name);
}

}  // namespace

std::string amount(Duration duration) {
  constexpr std::int64_t kMicrosecond = 1'000;
  constexpr std::int64_t kMillisecond = 1'000'000;
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t nanoseconds = duration.count();
  if (nanoseconds < 0) return "-" + amount(-duration);
  if (nanoseconds >= kSecond) return in_unit(nanoseconds, kSecond, "s");
  if (nanoseconds == 0 || nanoseconds >= kMillisecond / 10) {
    return in_unit(nanoseconds, kMillisecond, "ms");
  }
  if (nanoseconds >= kMicrosecond) return in_unit(nanoseconds, kMicrosecond, "us");
  return fmt::format("{} ns", nanoseconds);
}

std::string moment(Instant at) { return "+" + amount(Duration(at.nanoseconds)); }

std::string ordinal(std::uint64_t number) {
  const bool is_teen = number % 100 >= 11 && number % 100 <= 13;
  const std::uint64_t last = is_teen ? 0 : number % 10;
  return fmt::format("{}{}", number, last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

std::string part_of_bytes(std::size_t part, std::size_t whole) {
  FERMATA_ASSERT(part <= whole);
  return fmt::format("{} of {}", part, counted(whole, "byte"));
}

}  // namespace fermata::sim
