// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace fermata::sim {

/// Writes `text` into the file at `path`, in place of what is there. Throws InputOutputError, which
/// names `what` ("the tape "; may be empty), the path and the reason, such as a full disk; then
/// nothing is left of a file that was begun.
void write_whole_file(const std::string& path, std::string_view text, std::string_view what = {});

/// What is in the file at `path`; empty when it cannot be read.
[[nodiscard]] std::string whole_file(const std::string& path);

}  // namespace fermata::sim
