// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/search_path.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace fermata::sim::cli {

std::optional<std::string> find_in_path(std::string_view name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    std::string candidate(rest.substr(0, end));
    candidate += '/';
    candidate += name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::nullopt;
}

}  // namespace fermata::sim::cli
