// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stops a replay under a debugger, at the step that FERMATA_BREAK_AT names.

#include <string>

namespace fermata::sim::detail {

/// Throws UsageError, with the right command, when `tape` is empty or when no debugger is attached
/// to this process: the signal of the breakpoint would end it.
void require_debugger(const std::string& tape);

/// Gives control to the debugger: SIGTRAP.
void break_here();

}  // namespace fermata::sim::detail
