// SPDX-License-Identifier: Apache-2.0
#pragma once

// The order of the ready queue: newcomers at the tail, or at the head with high priority, and
// whoever leaves does not disturb the others (CORE-SC-02, CORE-SC-03).

#include <algorithm>
#include <cstdint>
#include <vector>

#include "properties/models/complaint.hpp"

namespace fermata::models {

class ReadyModel {
 public:
  /// A coroutine was queued, and now these are in the queue, head first.
  Complaint queued(std::uint64_t newcomer, bool at_head, const std::vector<std::uint64_t>& actual) {
    const auto has_left = [&](std::uint64_t each) {
      return each == newcomer || std::find(actual.begin(), actual.end(), each) == actual.end();
    };
    order_.erase(std::remove_if(order_.begin(), order_.end(), has_left), order_.end());
    order_.insert(at_head ? order_.begin() : order_.end(), newcomer);
    if (order_ == actual) return {};
    order_ = actual;
    return "CORE-SC-02 (FIFO): the ready queue has lost its order";
  }

 private:
  std::vector<std::uint64_t> order_;
};

}  // namespace fermata::models
