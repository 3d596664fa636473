// SPDX-License-Identifier: Apache-2.0
#pragma once

// One mapping with up to 64 stacks, and the list of them that a pool keeps.

#include <cstddef>
#include <cstdint>

namespace fermata::detail {

/// Slots lie upwards from `base`: guard, stack, and at its top the StackContext.
struct Slab {
  std::byte* base = nullptr;
  std::size_t bytes = 0;
  unsigned slots = 0;
  std::uint64_t bare = 0;     ///< Bit per slot: holds no memory, and so no StackContext.
  std::uint64_t guarded = 0;  ///< Bit per slot: its guard stands.
  Slab* next = nullptr;
  Slab* previous = nullptr;

  static constexpr unsigned kSlotsMax = 64;
  [[nodiscard]] static std::uint64_t bit(unsigned slot) noexcept {
    return std::uint64_t{1} << slot;
  }
  [[nodiscard]] bool is_bare(unsigned slot) const noexcept { return (bare & bit(slot)) != 0; }
  [[nodiscard]] std::uint64_t all_slots() const noexcept {
    return ~std::uint64_t{0} >> (kSlotsMax - slots);
  }
};

/// Slabs with a bare slot are in front.
class SlabList final {
 public:
  [[nodiscard]] Slab* front() const noexcept { return front_; }
  void push_front(Slab& slab) noexcept;
  void push_back(Slab& slab) noexcept;
  void remove(Slab& slab) noexcept;

 private:
  Slab* front_ = nullptr;
  Slab* back_ = nullptr;
};

}  // namespace fermata::detail
