// SPDX-License-Identifier: Apache-2.0
#pragma once

// The answers of a model that may go on in several ways: all of them, one after the other.

#include <cstddef>
#include <vector>

namespace fermata::models {

class Choices {
 public:
  /// Yes or no; no, unless an earlier attempt has tried that.
  bool choose() {
    if (at_ == answers_.size()) answers_.push_back(false);
    return answers_[at_++];
  }

  /// The next attempt begins: as this one up to its last no, which becomes a yes. False when there
  /// is none left.
  bool next() {
    answers_.resize(at_);
    at_ = 0;
    while (!answers_.empty() && answers_.back()) answers_.pop_back();
    if (answers_.empty()) return false;
    answers_.back() = true;
    return true;
  }

 private:
  std::vector<bool> answers_;
  std::size_t at_ = 0;
};

}  // namespace fermata::models
