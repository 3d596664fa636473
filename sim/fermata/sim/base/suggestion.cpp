// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/base/suggestion.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"

namespace fermata::sim {
namespace {

constexpr std::size_t kLettersPerError = 3;
constexpr std::size_t kErrorsMax = 2;
constexpr std::size_t kPrefixMin = 3;

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lower;
}

/// How many letters have to be inserted, removed, replaced, or swapped with their neighbour.
std::size_t errors_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  FERMATA_ASSERT(row.back() <= std::max(a.size(), b.size()));
  return row.back();
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view name,
                                        std::span<const std::string_view> candidates) {
  const std::string wanted = in_lower_case(name);
  const std::size_t allowed = std::min(kErrorsMax, name.size() / kLettersPerError);
  std::optional<std::string_view> best;
  std::size_t fewest = allowed + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t errors = errors_between(wanted, in_lower_case(candidate));
    if (errors >= fewest) continue;
    fewest = errors;
    best = candidate;
  }
  FERMATA_ASSERT(best.has_value() == (fewest <= allowed));
  if (best || name.size() < kPrefixMin) return best;
  for (const std::string_view candidate : candidates) {
    const bool begins_so = in_lower_case(candidate).starts_with(wanted);
    if (begins_so && (!best || candidate.size() < best->size())) best = candidate;
  }
  return best;
}

std::string suggestion(std::string_view name, std::span<const std::string_view> candidates) {
  const std::optional<std::string_view> meant = nearest(name, candidates);
  return meant ? "; did you mean " + std::string(*meant) + '?' : std::string();
}

}  // namespace fermata::sim
