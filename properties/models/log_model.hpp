// SPDX-License-Identifier: Apache-2.0
#pragma once

// A file to which records are appended by one handle: they stand in the order of submission, and
// nothing is between them. A record whose writer was not told that it is there may be there in
// part.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "properties/models/complaint.hpp"

namespace fermata::models {

class LogModel {
 public:
  using Record = std::size_t;

  [[nodiscard]] Record begin(std::size_t size) {
    records_.push_back({size, false});
    return records_.size() - 1;
  }
  [[nodiscard]] std::vector<std::byte> bytes_of(Record record) const {
    std::vector<std::byte> bytes(records_[record].size);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = value(record, i);
    return bytes;
  }
  void done(Record record) { records_[record].done = true; }

  /// All that is in the file, when nothing is under way.
  [[nodiscard]] Complaint contents(std::span<const std::byte> bytes) const {
    for (Record record = 0; record < records_.size(); ++record) {
      std::size_t there = 0;
      const std::size_t size = records_[record].size;
      while (there < size && there < bytes.size() && bytes[there] == value(record, there)) ++there;
      if (records_[record].done && there < size) {
        return "IO-05 (VAL): record " + std::to_string(record) +
               " was appended, and is not where it should be";
      }
      bytes = bytes.subspan(there);
    }
    if (bytes.empty()) return {};
    return "IO-05 (VAL): " + std::to_string(bytes.size()) + " bytes of the log are nobody's";
  }

 private:
  struct Known {
    std::size_t size = 0;
    bool done = false;
  };

  /// Records differ in every byte from their neighbours.
  [[nodiscard]] static std::byte value(Record record, std::size_t place) {
    return static_cast<std::byte>(record * 16 + place * 37 % 16);
  }

  std::vector<Known> records_;
};

}  // namespace fermata::models
