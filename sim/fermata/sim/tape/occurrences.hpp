// SPDX-License-Identifier: Apache-2.0
#pragma once

// How often each key has been seen in this run: the part of a draw's key that tells the third read
// of a coroutine from its fourth. Open addressing; forgetting everything is O(1).

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fermata::sim {

class Occurrences {
 public:
  /// How often `key` has been seen before in this run.
  std::uint32_t next(std::uint64_t key) {
    Slot& slot = find(key);
    if (slot.epoch == epoch_) return slot.count++;
    slot = Slot{key, epoch_, 1};
    if (++used_ * 2 > mask_) [[unlikely]] {
      grow();
    }
    return 0;
  }

  void clear() noexcept;

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t epoch = 0;  // Of another run: the slot is free.
    std::uint32_t count = 0;
  };

  Slot& find(std::uint64_t key) noexcept {
    std::size_t at = static_cast<std::size_t>(key) & mask_;
    while (slots_[at].epoch == epoch_ && slots_[at].key != key) at = (at + 1) & mask_;
    return slots_[at];
  }
  void grow();

  std::vector<Slot> slots_ = std::vector<Slot>(256);  // A power of two.
  std::size_t mask_ = slots_.size() - 1;
  std::size_t used_ = 0;
  std::uint32_t epoch_ = 1;
};

}  // namespace fermata::sim
