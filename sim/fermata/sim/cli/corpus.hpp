// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace fermata::sim::cli {

struct CorpusTape {
  std::string path;
  std::string test;
};

/// The tapes below `folder`, in the order of their paths; none when `folder` is empty. Throws
/// UsageError when there is no such folder, or a tape in it cannot be read.
[[nodiscard]] std::vector<CorpusTape> tapes_in(const std::string& folder);

}  // namespace fermata::sim::cli
