// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/pipe_path.hpp"

#include <fmt/format.h>

#include "fermata/base/error.hpp"

namespace fermata::backend {

PipePath::PipePath(std::string_view path) : path_(path) {
  if (path.empty()) throw UsageError("path of a Unix socket: expected at least one character");
  if (path.size() > kLongest) {
    throw UsageError(fmt::format("path of a Unix socket '{}': expected at most {} bytes, not {}",
                                 path, kLongest, path.size()));
  }
  if (const std::size_t at = path.find('\0'); at != std::string_view::npos) {
    throw UsageError(fmt::format("path of a Unix socket '{}': expected no NUL, there is one at {}",
                                 path.substr(0, at), at));
  }
}

}  // namespace fermata::backend
