// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace fermata::detail {

/// Makes lines of text that comes in pieces. A line ends at its newline, or where the text does
/// (EXE-05); it is given without white space at its end.
class LineSplitter {
 public:
  /// Calls `take(std::string)` for each line that is complete now.
  template <class Take>
  void feed(std::string_view piece, Take take) {
    for (std::size_t end; (end = piece.find('\n')) != std::string_view::npos;) {
      begun_ += piece.substr(0, end);
      take(trimmed(std::exchange(begun_, {})));
      piece.remove_prefix(end + 1);
    }
    begun_ += piece;
  }

  /// The text has ended.
  template <class Take>
  void finish(Take take) {
    if (!begun_.empty()) take(trimmed(std::exchange(begun_, {})));
  }

 private:
  static std::string trimmed(std::string line) {
    const std::size_t last = line.find_last_not_of(" \t\r\v\f\n");
    line.resize(last == std::string::npos ? 0 : last + 1);
    return line;
  }

  std::string begun_;
};

}  // namespace fermata::detail
