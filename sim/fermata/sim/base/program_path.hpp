// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where this program is, and how a person calls it from a shell.

#include <string>

namespace fermata::sim::detail {

/// The path of this program.
[[nodiscard]] std::string program_path();

/// The path of the program as a person types it; relative when the program is below the current
/// folder.
[[nodiscard]] std::string path_to_type();

/// `word` quoted as one word for a shell.
[[nodiscard]] std::string shell_quoted(const std::string& word);

}  // namespace fermata::sim::detail
