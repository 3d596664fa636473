// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"

namespace fermata::loop::detail {

/// First in, first out; allocates when it grows only.
template <class T>
class TaskQueue {
 public:
  void push(T task) {
    if (size_ == slots_.size()) grow();
    slots_[(first_ + size_) & (slots_.size() - 1)] = std::move(task);
    ++size_;
  }

  /// REQUIRES: not empty.
  T pop() noexcept {
    FERMATA_ASSERT(size_ > 0);
    T task = std::exchange(slots_[first_], T());
    first_ = (first_ + 1) & (slots_.size() - 1);
    --size_;
    return task;
  }

  void clear() noexcept {
    while (!empty()) pop();
  }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

 private:
  void grow() {
    std::vector<T> larger(slots_.empty() ? 16 : 2 * slots_.size());
    const std::size_t size = size_;
    for (std::size_t at = 0; at < size; ++at) larger[at] = pop();
    slots_ = std::move(larger);
    first_ = 0;
    size_ = size;
  }

  std::vector<T> slots_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace fermata::loop::detail
