// SPDX-License-Identifier: Apache-2.0
#pragma once

// The environment variables of a simulated process. None is set when it begins, so that nothing
// depends on who runs the test.

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "fermata/base/assert.hpp"

namespace fermata::posix {

class Environment {
 public:
  /// Null when it is not set. Valid until it is set again or unset.
  [[nodiscard]] char* find(std::string_view name) noexcept {
    const auto found = variables_.find(name);
    return found == variables_.end() ? nullptr : found->second.data();
  }
  /// REQUIRES: a name, without '='.
  void set(std::string_view name, std::string_view value) {
    FERMATA_ASSERT(!name.empty());
    FERMATA_ASSERT(name.find('=') == name.npos);
    variables_.insert_or_assign(std::string(name), std::string(value));
  }
  void unset(std::string_view name) {
    const auto found = variables_.find(name);
    if (found != variables_.end()) variables_.erase(found);
  }
  void clear() noexcept { variables_.clear(); }

 private:
  std::map<std::string, std::string, std::less<>> variables_;
};

}  // namespace fermata::posix
