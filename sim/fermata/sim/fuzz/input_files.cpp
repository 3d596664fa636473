// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fuzz/input_files.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"

namespace fermata::sim {

std::vector<std::string> input_files(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::exists(path, error)) throw UsageError(path + ": expected a file or a folder");
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    FERMATA_ASSERT(!path.empty());
    const auto first = static_cast<std::ptrdiff_t>(files.size());
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
      if (entry.is_regular_file()) files.push_back(entry.path().string());
    }
    std::sort(files.begin() + first, files.end());
  }
  return files;
}

std::vector<std::uint8_t> load_input(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(path + ": cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace fermata::sim
