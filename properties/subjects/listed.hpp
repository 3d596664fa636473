// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace fermata::properties {

/// Somebody is in a list as long as this lives.
class Listed {
 public:
  Listed(std::vector<std::size_t>& list, std::size_t who) : list_(list), who_(who) {
    list_.push_back(who_);
  }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;
  ~Listed() { list_.erase(std::find(list_.begin(), list_.end(), who_)); }

 private:
  std::vector<std::size_t>& list_;
  std::size_t who_;
};

}  // namespace fermata::properties
