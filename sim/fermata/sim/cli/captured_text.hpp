// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fermata::sim::cli {

/// What a process printed: its beginning and its end, however much there was between.
class CapturedText {
 public:
  static constexpr std::size_t kKept = 16 * 1024;  // At either end.

  void append(std::string_view text);

  /// Says how many bytes it left out.
  [[nodiscard]] std::string text() const;

 private:
  std::string head_;
  std::string tail_;
  std::uint64_t left_out_ = 0;
};

}  // namespace fermata::sim::cli
