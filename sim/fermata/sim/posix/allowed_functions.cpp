// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/allowed_functions.hpp"

#include <algorithm>
#include <utility>

namespace fermata::sim::detail {

namespace {

std::vector<std::string>& allowed_functions() noexcept {
  static std::vector<std::string> functions;
  return functions;
}

}  // namespace

void allow_unserved(std::vector<std::string> functions) {
  allowed_functions() = std::move(functions);
}

bool is_allowed_unserved(std::string_view function) noexcept {
  const std::vector<std::string>& allowed = allowed_functions();
  return std::find(allowed.begin(), allowed.end(), function) != allowed.end();
}

}  // namespace fermata::sim::detail
