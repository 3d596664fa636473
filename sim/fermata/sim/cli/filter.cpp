// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/filter.hpp"

namespace fermata::sim::cli {
namespace {

bool matches(std::string_view pattern, std::string_view name) {
  std::size_t at_star = std::string_view::npos;
  std::size_t behind_star = 0;
  std::size_t p = 0;
  std::size_t n = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      at_star = p++;
      behind_star = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (at_star != std::string_view::npos) {
      p = at_star + 1;
      n = ++behind_star;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool matches_any(std::string_view patterns, std::string_view name) {
  for (;;) {
    const std::size_t end = patterns.find(':');
    if (matches(patterns.substr(0, end), name)) return true;
    if (end == std::string_view::npos) return false;
    patterns.remove_prefix(end + 1);
  }
}

}  // namespace

bool selects(std::string_view filter, std::string_view name) {
  const std::size_t dash = filter.find('-');
  const std::string_view wanted = dash == 0 ? "*" : filter.substr(0, dash);
  if (!matches_any(wanted, name)) return false;
  return dash == std::string_view::npos || !matches_any(filter.substr(dash + 1), name);
}

}  // namespace fermata::sim::cli
