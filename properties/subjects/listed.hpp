// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is so for as long as somebody is in a call, however that ends.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace fermata::properties {

/// Counts one more as long as this lives.
class Counted {
 public:
  explicit Counted(std::size_t& count) : count_(count) { ++count_; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --count_; }

 private:
  std::size_t& count_;
};

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
