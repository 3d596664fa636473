// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace fermata::backend {
struct FileOperation;
}  // namespace fermata::backend

namespace fermata::sim::detail {

/// What a program does by this call: "writes "v2" to 'settings'", "syncs directory '.'".
[[nodiscard]] std::string call_text(const backend::FileOperation& operation);

/// What follows it once it is answered: ": \"v2\"" of a read, " (No such file or directory)" of a
/// failure, " (2 of 5 bytes)" of a short write; else empty. `code` is an errno value.
[[nodiscard]] std::string answer_text(const backend::FileOperation& operation, int code,
                                      std::size_t moved);

/// "writes "v2" to 'settings'".
[[nodiscard]] std::string written_text(std::span<const std::byte> bytes, std::string_view path);
/// ": "v2"", of a read.
[[nodiscard]] std::string read_text(std::span<const std::byte> bytes);
/// " (2 of 5 bytes)"; empty when all have been written.
[[nodiscard]] std::string short_write_text(std::size_t moved, std::size_t size);

}  // namespace fermata::sim::detail
