// SPDX-License-Identifier: Apache-2.0
#pragma once

// Return addresses, and how people read them.

#include <span>
#include <string>
#include <vector>

namespace fermata::sim {

/// The return addresses of the caller's stack, innermost first; frames more than 64 calls away are
/// left out.
[[nodiscard]] std::vector<const void*> present_stack();

/// The functions of the user's code in a stack, innermost first: "function at file:line", or the
/// function alone when the program has no debug information. A line that would follow itself has
/// "(7 times)" behind it instead. What belongs to Fermata is left out. Asks addr2line once for each
/// stack; empty when there is none, or when the program has no names for any of them, and when
/// look_names_up() was told not to.
[[nodiscard]] std::vector<std::string> stack_text(std::span<const void* const> stack);

/// Whether stack_text() looks names up from now on; at first it does. What was looked up before is
/// kept.
void look_names_up(bool wanted) noexcept;

}  // namespace fermata::sim
