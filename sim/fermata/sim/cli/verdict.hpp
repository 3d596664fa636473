// SPDX-License-Identifier: Apache-2.0
#pragma once

// Classes of failures as the tool knows them: those of sim::Verdict, "crash" and "hang" of a
// process, "obligation" of an assertion that never held.

#include <string_view>

namespace fermata::sim::cli {

inline constexpr int kPass = 0;
inline constexpr int kUsage = 1;
inline constexpr int kInterrupted = 130;

/// The exit code of the tool when this is the worst failure that it saw.
[[nodiscard]] int exit_code_of(std::string_view failure_class) noexcept;

/// Which of two exit codes decides: 9, 5, 2, 4, 3, 8, 124, 6, 7, 0.
[[nodiscard]] int heavier(int a, int b) noexcept;

}  // namespace fermata::sim::cli
