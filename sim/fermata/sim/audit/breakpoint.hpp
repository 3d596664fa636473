// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stops a replay under a debugger, at the step that FERMATA_BREAK_AT names.

#include <string>

namespace fermata::sim::detail {

/// Throws UsageError, with the command that would do, when `tape` is empty or this process runs
/// under no debugger: the signal would end it.
void require_debugger(const std::string& tape);

/// Gives control to the debugger: SIGTRAP.
void break_here();

}  // namespace fermata::sim::detail
