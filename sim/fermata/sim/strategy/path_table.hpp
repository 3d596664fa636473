// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a strategy keeps for each coroutine, or for each thing, of a run, by its key. Open
// addressing; forgetting everything is O(1), and what was kept is used again.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"

namespace fermata::sim {

/// `Value` has reset(), called when it is met for the first time in a run.
template <class Value>
class PathTable {
 public:
  /// Valid until the next call.
  Value& operator[](std::uint64_t key) {
    Slot* slot = &find(key);
    if (slot->epoch == epoch_) return slot->value;
    if (++used_ * 2 > slots_.size()) {
      grow();
      slot = &find(key);
    }
    slot->key = key;
    slot->epoch = epoch_;
    FERMATA_ASSERT(used_ < slots_.size());
    slot->value.reset();
    return slot->value;
  }

  /// Null when it was not met in this run.
  [[nodiscard]] Value* look_up(std::uint64_t key) noexcept {
    Slot& slot = find(key);
    return slot.epoch == epoch_ ? &slot.value : nullptr;
  }

  void clear() noexcept {
    ++epoch_;
    used_ = 0;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint64_t epoch = 0;  // Of another run: the slot is free.
    Value value{};
  };

  Slot& find(std::uint64_t key) noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = static_cast<std::size_t>(key) & mask;
    while (slots_[at].epoch == epoch_ && slots_[at].key != key) at = (at + 1) & mask;
    return slots_[at];
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    FERMATA_ASSERT((slots_.size() & (slots_.size() - 1)) == 0);
    for (Slot& slot : old) {
      if (slot.epoch == epoch_) find(slot.key) = std::move(slot);
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(64);  // A power of two.
  std::size_t used_ = 0;
  std::uint64_t epoch_ = 1;
};

}  // namespace fermata::sim
