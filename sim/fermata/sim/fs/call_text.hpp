// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace fermata {
struct FileOperation;
}

namespace fermata::sim::detail {

/// What a program does by this call: "writes "v2" to 'settings'", "syncs directory '.'".
[[nodiscard]] std::string call_text(const FileOperation& operation);

}  // namespace fermata::sim::detail
