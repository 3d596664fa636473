// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "fermata/runtime/base/error.hpp"

namespace fermata::sim::cli {

/// An empty file that nobody else has; removed at the end. Throws InputOutputError.
class TemporaryFile {
 public:
  TemporaryFile() : path_(std::filesystem::temp_directory_path() / "fermata-XXXXXX") {
    const int file = ::mkstemp(path_.data());
    if (file < 0) throw InputOutputError("cannot create " + path_, errno);
    ::close(file);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { ::unlink(path_.c_str()); }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace fermata::sim::cli
