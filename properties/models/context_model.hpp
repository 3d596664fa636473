// SPDX-License-Identifier: Apache-2.0
#pragma once

// Values by key of owners in a tree: who looks for one finds the nearest on the way up.

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace fermata::models {

class ContextModel {
 public:
  using Owner = std::size_t;
  static constexpr Owner kNone = ~Owner{0};

  /// Parents come before their children; kNone is of one that inherits nothing.
  [[nodiscard]] Owner add_owner(Owner parent) {
    owners_.push_back({parent, {}});
    return owners_.size() - 1;
  }

  /// Whether it does it: a value that is there is replaced only when that is asked for.
  [[nodiscard]] bool set(Owner owner, std::size_t key, int value, bool replace) {
    if (!replace) return owners_[owner].values.emplace(key, value).second;
    owners_[owner].values[key] = value;
    return true;
  }
  void unset(Owner owner, std::size_t key) { owners_[owner].values.erase(key); }

  [[nodiscard]] std::optional<int> local(Owner owner, std::size_t key) const {
    const auto& values = owners_[owner].values;
    const auto found = values.find(key);
    return found == values.end() ? std::optional<int>() : found->second;
  }
  [[nodiscard]] std::optional<int> nearest(Owner owner, std::size_t key) const {
    for (; owner != kNone; owner = owners_[owner].parent) {
      if (const auto value = local(owner, key)) return value;
    }
    return std::nullopt;
  }

 private:
  struct Values {
    Owner parent;
    std::map<std::size_t, int> values;
  };

  std::vector<Values> owners_;
};

}  // namespace fermata::models
