// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who waits in line for things that are given out one by one, in the order of arrival.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "properties/models/complaint.hpp"

namespace fermata::models {

class LineModel {
 public:
  void given() { ++given_; }
  void served_at_once() { ++served_; }

  void arrived(std::size_t who) { line_.push_back(who); }
  void left(std::size_t who) { line_.erase(std::find(line_.begin(), line_.end(), who)); }

  /// `who` was served. Nobody who came before may sleep on: `sleeps(other)` says whether one does.
  template <class Sleeps>
  [[nodiscard]] Complaint served(std::size_t who, Sleeps sleeps) {
    ++served_;
    Complaint complaint;
    for (const std::size_t other : line_) {
      if (other == who) break;
      if (!sleeps(other)) continue;
      complaint = "CORE-GL-07 (FIFO): " + std::to_string(who) + " was served before " +
                  std::to_string(other) + ", which waited first";
    }
    left(who);
    return complaint;
  }

  /// `counted` is how many the primitive believes to be in line.
  [[nodiscard]] Complaint recount(std::size_t counted) const {
    if (counted == line_.size()) return {};
    return "CORE-GL-04 (REF): " + std::to_string(line_.size()) + " stand in line, but " +
           std::to_string(counted) + " are counted";
  }

  /// At the end: `left_over` things are there that nobody took.
  [[nodiscard]] Complaint conserved(std::size_t left_over) const {
    if (given_ == served_ + left_over) return {};
    return "CORE-GL-08 (VAL): " + std::to_string(given_) + " were given, " +
           std::to_string(served_) + " were taken and " + std::to_string(left_over) +
           " are left over";
  }

  [[nodiscard]] const std::vector<std::size_t>& line() const { return line_; }

 private:
  std::vector<std::size_t> line_;
  std::size_t given_ = 0;
  std::size_t served_ = 0;
};

}  // namespace fermata::models
