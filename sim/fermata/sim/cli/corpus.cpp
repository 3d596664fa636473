// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/corpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "fermata/base/error.hpp"
#include "fermata/sim/tape/tape.hpp"

namespace fermata::sim::cli {

std::vector<CorpusTape> tapes_in(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<CorpusTape> tapes;
  if (folder.empty()) return tapes;
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw UsageError(fmt::format("--corpus: there is no folder {}", folder));
  }
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".tape") continue;
    const std::string path = fs::absolute(entry.path()).lexically_normal().string();
    try {
      tapes.push_back({path, load_tape(path).test});
    } catch (const Error& problem) {
      throw UsageError(
          fmt::format("--corpus: {}; record it again, or take it out", problem.what()));
    }
  }
  std::sort(tapes.begin(), tapes.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return tapes;
}

}  // namespace fermata::sim::cli
