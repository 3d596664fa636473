// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which trace hashes the runs of an exploration had, and which of them only once: what has been
// seen, and by Good and Turing's rule (I. J. Good, Biometrika 40, 1953) how much has not.
//
// Memory   At most kMost are kept. Beyond that only every second, fourth, ... hash is,
//          chosen by its own bits (P. Gibbons, VLDB 2001), and the counts become
//          estimates.
// Merging  The result does not depend on the order: parts of an exploration, put together,
//          are the whole.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fermata/base/assert.hpp"

namespace fermata::sim {

class DistinctRuns {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 18;

  /// Adds the trace hash of a run.
  void add(std::uint64_t hash) {
    if (hash <= limit_) insert(hash, false);
  }

  /// Everything that `other` has seen.
  void add(const DistinctRuns& other);

  /// How many different ones were seen.
  [[nodiscard]] std::uint64_t kinds() const noexcept { return std::uint64_t{kept_} << level_; }
  /// How many of those were seen once only.
  [[nodiscard]] std::uint64_t once() const noexcept { return std::uint64_t{once_} << level_; }

  /// The state from which restore() makes an equal object.
  [[nodiscard]] unsigned level() const noexcept { return level_; }
  [[nodiscard]] std::vector<std::uint64_t> entries() const;
  [[nodiscard]] static DistinctRuns restore(unsigned level, std::span<const std::uint64_t> entries);

 private:
  // A slot is a hash whose lowest bit has made room for "seen again"; 0 is a free one.
  static constexpr std::uint64_t kAgain = 1;

  void insert(std::uint64_t hash, bool again) {
    FERMATA_ASSERT(kept_ < slots_.size());
    std::uint64_t entry = hash & ~kAgain;
    if (entry == 0) entry = 2;
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = static_cast<std::size_t>(entry >> 1) & mask;
    while (slots_[at] != 0) {
      if ((slots_[at] & ~kAgain) == entry) {
        once_ -= (slots_[at] & kAgain) == 0;
        slots_[at] |= kAgain;
        return;
      }
      at = (at + 1) & mask;
    }
    slots_[at] = entry | static_cast<std::uint64_t>(again);
    once_ += !again;
    FERMATA_ASSERT(once_ <= kept_ + 1);
    if (++kept_ * 2 > slots_.size()) make_room();
  }

  void make_room();
  void raise_level_to(unsigned level);
  /// Puts everything that is still to be kept into as many slots.
  void rebuild(std::size_t slots);

  std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(1024);
  std::size_t kept_ = 0;
  std::size_t once_ = 0;
  unsigned level_ = 0;                       // Only hashes with as many leading zeros are kept.
  std::uint64_t limit_ = ~std::uint64_t{0};  // The largest of those.
};

}  // namespace fermata::sim
