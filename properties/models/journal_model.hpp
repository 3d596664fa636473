// SPDX-License-Identifier: Apache-2.0
#pragma once

// A journal to which clients have entries appended. What the journal says once holds forever: an
// entry that it has confirmed, or shown, stands where it stood, behind all that was there before it
// was asked for, and no second time. One that was asked for and never confirmed may be there.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "properties/models/complaint.hpp"

namespace fermata::models {

class JournalModel {
 public:
  using Entry = std::uint32_t;

  /// What a reader finds.
  struct Found {
    Entry entry;
    std::span<const std::byte> bytes;
  };

  /// From here on somebody asks for it.
  [[nodiscard]] Entry begin(std::size_t size) {
    entries_.push_back({size, places_.size(), std::nullopt});
    return static_cast<Entry>(entries_.size() - 1);
  }
  [[nodiscard]] std::vector<std::byte> bytes_of(Entry entry) const {
    std::vector<std::byte> bytes(entries_[entry].size);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = value(entry, i);
    return bytes;
  }

  [[nodiscard]] Complaint confirmed(Entry entry, std::size_t place) { return stands(entry, place); }

  /// The length of the journal that is known: any later read finds as much.
  [[nodiscard]] std::size_t known_length() const { return places_.size(); }

  /// All that is in the journal, told to somebody who asked at `known`.
  [[nodiscard]] Complaint read(std::size_t known, std::span<const Found> all) {
    if (all.size() < known) {
      return "VAL: of " + std::to_string(known) + " entries that were safe there are " +
             std::to_string(all.size());
    }
    for (std::size_t place = 0; place < all.size(); ++place) {
      const auto& [entry, bytes] = all[place];
      if (entry >= entries_.size()) {
        return "VAL: nobody has asked for entry " + std::to_string(entry);
      }
      if (!is_whole(entry, bytes)) {
        return "VAL: entry " + std::to_string(entry) + " is not as it was sent";
      }
      if (Complaint complaint = stands(entry, place); !complaint.empty()) return complaint;
    }
    return {};
  }

 private:
  struct Known {
    std::size_t size;
    std::size_t not_before;  // Its place is this or later.
    std::optional<std::size_t> place;
  };

  [[nodiscard]] static std::byte value(Entry entry, std::size_t index) {
    const std::uint64_t hash = (entry + 1) * 0x9e3779b97f4a7c15 + index * 0xbf58476d1ce4e5b9;
    return static_cast<std::byte>((hash ^ hash >> 31) * 0x94d049bb133111eb >> 56);
  }

  [[nodiscard]] bool is_whole(Entry entry, std::span<const std::byte> bytes) const {
    if (bytes.size() != entries_[entry].size) return false;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] != value(entry, i)) return false;
    }
    return true;
  }

  [[nodiscard]] Complaint stands(Entry entry, std::size_t place) {
    const auto complaint = [&](const std::string& what) {
      return "VAL: entry " + std::to_string(entry) + " stands at " + std::to_string(place) + what;
    };
    Known& known = entries_[entry];
    if (known.place && *known.place != place) {
      return complaint(", and stood at " + std::to_string(*known.place));
    }
    if (place < known.not_before) {
      return complaint(", before what was there when it was asked for");
    }
    if (place >= places_.size()) places_.resize(place + 1);
    if (places_[place] && *places_[place] != entry) {
      return complaint(", where " + std::to_string(*places_[place]) + " stood");
    }
    known.place = place;
    places_[place] = entry;
    return {};
  }

  std::vector<Known> entries_;
  std::vector<std::optional<Entry>> places_;  // Nothing: somebody is there, nobody knows who.
};

}  // namespace fermata::models
