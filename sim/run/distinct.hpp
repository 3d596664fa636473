// SPDX-License-Identifier: Apache-2.0
#pragma once

// How many different numbers have been seen. Open addressing, one word for each; the numbers are
// hashes already.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace fermata::sim::detail {

class Distinct {
 public:
  void add(std::uint64_t number) {
    if (number == 0) number = 1;  // 0 marks a free slot.
    if (!insert(number)) return;
    if (++count_ * 2 > slots_.size()) grow();
  }

  [[nodiscard]] std::size_t count() const noexcept { return count_; }

 private:
  /// Whether it is new.
  bool insert(std::uint64_t number) noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = static_cast<std::size_t>(number) & mask;
    while (slots_[at] != 0) {
      if (slots_[at] == number) return false;
      at = (at + 1) & mask;
    }
    slots_[at] = number;
    return true;
  }

  void grow() {
    std::vector<std::uint64_t> old(slots_.size() * 2);
    old.swap(slots_);
    for (const std::uint64_t number : old) {
      if (number != 0) insert(number);
    }
  }

  std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(1024);
  std::size_t count_ = 0;
};

}  // namespace fermata::sim::detail
