// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fermata::sim {

/// The files at and below `paths`; those of a folder in order of their names. Throws UsageError
/// when one of them does not exist.
[[nodiscard]] std::vector<std::string> input_files(const std::vector<std::string>& paths);

/// Throws UsageError when it cannot be read.
[[nodiscard]] std::vector<std::uint8_t> load_input(const std::string& path);

}  // namespace fermata::sim
