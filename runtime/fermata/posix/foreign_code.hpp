// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace fermata::posix {

/// Whether a shared library is foreign code: it neither belongs to the system, to the compiler nor
/// to what Fermata itself uses while a run goes on. `path` is that of its file.
[[nodiscard]] bool is_foreign_library(std::string_view path) noexcept;

/// Whether it is a shared library that is not foreign.
[[nodiscard]] bool is_system_library(std::string_view path) noexcept;

/// Whether the instruction at `address` is in such a library.
[[nodiscard]] bool is_foreign_code(const void* address) noexcept;

/// Whether it is in a library that is not foreign.
[[nodiscard]] bool is_system_code(const void* address) noexcept;

/// Notes where the instructions of foreign libraries are, if libraries have been loaded since the
/// last call; returns whether they have. What is loaded later is not known until the next call.
bool find_foreign_code() noexcept;

/// is_foreign_code() as of the last find_foreign_code(), and quick.
[[nodiscard]] bool is_known_foreign_code(const void* address) noexcept;

}  // namespace fermata::posix
