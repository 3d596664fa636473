// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fermata::backend {

/// The file name that a Unix socket has on its machine. A value.
class PipePath {
 public:
  /// The longest path, in bytes, that fits into the system's socket address.
  static constexpr std::size_t kLongest = 107;

  /// Throws UsageError when `path` is empty, too long or has a NUL in it.
  explicit PipePath(std::string_view path);

  [[nodiscard]] const std::string& text() const noexcept { return path_; }

  friend auto operator<=>(const PipePath&, const PipePath&) = default;

 private:
  std::string path_;
};

}  // namespace fermata::backend
