// SPDX-License-Identifier: Apache-2.0
#pragma once

// Values with the keys of the items that they came from, in an order that means something: that of
// completion, or of the items.

#include <cstddef>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"

namespace fermata {

template <class K, class V>
class Keyed {
 public:
  using Entry = std::pair<K, V>;

  void add(K key, V value) { entries_.emplace_back(std::move(key), std::move(value)); }
  void reserve(std::size_t count) { entries_.reserve(count); }

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] auto begin() const noexcept { return entries_.begin(); }
  [[nodiscard]] auto end() const noexcept { return entries_.end(); }

  /// The value, or null. Linear: meant for a few look-ups, not for a walk over all keys.
  [[nodiscard]] const V* find(const K& key) const {
    for (const Entry& entry : entries_) {
      if (entry.first == key) return &entry.second;
    }
    return nullptr;
  }
  [[nodiscard]] bool contains(const K& key) const { return find(key) != nullptr; }
  /// UsageError when there is none.
  [[nodiscard]] const V& at(const K& key) const {
    const V* value = find(key);
    FERMATA_REQUIRE(value != nullptr, "at: no item with this key has given a value");
    return *value;
  }

 private:
  std::vector<Entry> entries_;
};

}  // namespace fermata
