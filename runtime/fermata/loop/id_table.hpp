// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"

namespace fermata::loop::detail {

/// Ids that grow and never come back, to what they name: neighbours in time are neighbours here,
/// and most stand at home. Linear probing, in which nobody is farther from home than who stood in
/// its way. Allocates when it grows only.
template <class T>
class IdTable {
 public:
  /// Null when the id is unknown.
  [[nodiscard]] T* find(std::uint64_t id) const noexcept {
    if (size_ == 0) return nullptr;
    for (std::size_t at = home(id); slots_[at].id != 0; at = next(at)) {
      if (slots_[at].id == id) return slots_[at].value;
    }
    return nullptr;
  }

  /// REQUIRES: `id` is not 0, and not in the table.
  void insert(std::uint64_t id, T& value) {
    FERMATA_ASSERT(id != 0 && find(id) == nullptr);
    if (2 * (size_ + 1) > slots_.size()) grow();
    ++size_;
    Slot& slot = slots_[home(id)];
    if (slot.id != 0) return place({id, &value});
    slot = {id, &value};
  }

  /// REQUIRES: it is in the table.
  void erase(std::uint64_t id) noexcept {
    FERMATA_ASSERT(size_ > 0);
    std::size_t hole = home(id);
    while (slots_[hole].id != id) {
      FERMATA_ASSERT(slots_[hole].id != 0);
      hole = next(hole);
    }
    for (std::size_t at = next(hole); from_home(at) > 0; at = next(at)) {
      slots_[std::exchange(hole, at)] = slots_[at];
    }
    slots_[hole] = {};
    --size_;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  struct Slot {
    std::uint64_t id = 0;
    T* value = nullptr;
  };

  [[nodiscard]] std::size_t home(std::uint64_t id) const noexcept {
    return static_cast<std::size_t>(id) & (slots_.size() - 1);
  }
  [[nodiscard]] std::size_t next(std::size_t at) const noexcept {
    return (at + 1) & (slots_.size() - 1);
  }
  /// How far an entry stands behind its home; 0 where there is none.
  [[nodiscard]] std::size_t from_home(std::size_t at) const noexcept {
    const std::uint64_t id = slots_[at].id;
    return id == 0 ? 0 : (at - home(id)) & (slots_.size() - 1);
  }

  // Entries stand in the order of their homes: who is farther from its own goes first.
  void place(Slot slot) noexcept {
    std::size_t far = 0;
    for (std::size_t at = home(slot.id);; at = next(at), ++far) {
      const std::size_t there = from_home(at);
      if (slots_[at].id != 0 && there >= far) continue;
      std::swap(slots_[at], slot);
      if (slot.id == 0) return;
      far = there;
    }
  }

  void grow() {
    std::vector<Slot> larger(slots_.empty() ? 16 : 2 * slots_.size());
    larger.swap(slots_);
    for (const Slot& slot : larger) {
      if (slot.id != 0) place(slot);
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace fermata::loop::detail
