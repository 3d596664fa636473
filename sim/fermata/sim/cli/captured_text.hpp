// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fermata::sim::cli {

/// The output of a process: its beginning and its end, however much there was between.
class CapturedText {
 public:
  static constexpr std::size_t kKept = 16 * 1024;  // At either end.

  void append(std::string_view text) {
    const std::size_t room = std::min(kKept - head_.size(), text.size());
    head_ += text.substr(0, room);
    tail_ += text.substr(room);
    if (tail_.size() <= 2 * kKept) return;
    const std::size_t surplus = tail_.size() - kKept;
    tail_.erase(0, surplus);
    left_out_ += surplus;
  }

  /// Says how many bytes it left out.
  [[nodiscard]] std::string text() const {
    if (left_out_ == 0) return head_ + tail_;
    return fmt::format("{}\n... {} bytes ...\n{}", head_, left_out_, tail_);
  }

 private:
  std::string head_;
  std::string tail_;
  std::uint64_t left_out_ = 0;
};

}  // namespace fermata::sim::cli
