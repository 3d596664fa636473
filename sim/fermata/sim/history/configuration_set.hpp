// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a search has visited: pairs of a key and a set of things that it has used up. Of two pairs
// with the same key the one that has used up less can do all that the other can, so that the other
// need not be visited. Everything is kept in a few blocks.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "fermata/base/assert.hpp"

namespace fermata::sim::detail {

class ConfigurationSet {
 public:
  /// Sets are bits in so many words.
  explicit ConfigurationSet(std::size_t words_of_set)
      : slots_(kSlotsAtFirst), words_of_set_(words_of_set) {}

  /// Adds the pair and returns true, unless one with this key and a subset of `used` is there.
  bool insert(std::span<const std::uint64_t> key, std::span<const std::uint64_t> used) {
    FERMATA_ASSERT(used.size() == words_of_set_);
    FERMATA_ASSERT(older_.size() < kNone);
    Slot& slot = slot_of(key);
    for (std::uint32_t node = slot.newest; node != kNone; node = older_[node]) {
      if (is_subset(node, used)) return false;
    }
    older_.push_back(slot.newest);
    slot.newest = static_cast<std::uint32_t>(older_.size() - 1);
    sets_.insert(sets_.end(), used.begin(), used.end());
    if (keys_ * 2 > slots_.size()) grow();
    return true;
  }

  [[nodiscard]] std::size_t size() const noexcept { return older_.size(); }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t kSlotsAtFirst = 64;

  struct Slot {
    std::size_t begin = 0;
    std::uint32_t length = 0;
    std::uint32_t hash = 0;
    std::uint32_t newest = kNone;  // None: the slot is empty.
  };

  [[nodiscard]] std::span<const std::uint64_t> key_of(const Slot& slot) const noexcept {
    FERMATA_ASSERT(slot.begin + slot.length <= key_words_.size());
    return {key_words_.data() + slot.begin, slot.length};
  }

  /// The slot of `key`, which is its own from now on.
  Slot& slot_of(std::span<const std::uint64_t> key) {
    FERMATA_ASSERT(keys_ < slots_.size());
    const std::uint64_t hash = hash_of(key);
    const auto short_hash = static_cast<std::uint32_t>(hash >> 32U);
    for (std::size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      Slot& slot = slots_[at];
      if (slot.newest == kNone) {
        slot.begin = key_words_.size();
        slot.length = static_cast<std::uint32_t>(key.size());
        slot.hash = short_hash;
        key_words_.insert(key_words_.end(), key.begin(), key.end());
        ++keys_;
        return slot;
      }
      if (slot.hash == short_hash && equal(key_of(slot), key)) return slot;
    }
  }

  static bool equal(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) noexcept {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }

  [[nodiscard]] bool is_subset(std::uint32_t node,
                               std::span<const std::uint64_t> used) const noexcept {
    FERMATA_ASSERT(node < older_.size());
    const std::uint64_t* const kept = sets_.data() + node * words_of_set_;
    for (std::size_t i = 0; i < used.size(); ++i) {
      if ((kept[i] & ~used[i]) != 0) return false;
    }
    return true;
  }

  static std::uint64_t hash_of(std::span<const std::uint64_t> key) noexcept {
    std::uint64_t hash = key.size();
    for (const std::uint64_t word : key) {
      hash = (hash ^ word) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 29U;
    }
    return hash;
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    FERMATA_ASSERT(keys_ * 2 <= slots_.size());
    for (const Slot& slot : old) {
      if (slot.newest == kNone) continue;
      std::size_t at = hash_of(key_of(slot)) & (slots_.size() - 1);
      while (slots_[at].newest != kNone) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;  // A power of two of them, at most half full.
  std::size_t keys_ = 0;
  std::vector<std::uint64_t> key_words_;
  std::vector<std::uint64_t> sets_;  // Of all pairs, in the order in which they came.
  std::size_t words_of_set_;
  std::vector<std::uint32_t> older_;  // Of each pair, the one before it with the same key.
};

}  // namespace fermata::sim::detail
