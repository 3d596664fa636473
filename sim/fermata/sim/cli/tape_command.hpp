// SPDX-License-Identifier: Apache-2.0
#pragma once

// What replays a tape.

#include "fermata/sim/cli/arguments.hpp"
#include "fermata/sim/cli/child.hpp"

namespace fermata::sim::cli {

/// Replays the tape that is the first operand. Throws UsageError when it is not a tape, or its
/// program or test is not there.
[[nodiscard]] Command command_for_tape(const Arguments& arguments);

}  // namespace fermata::sim::cli
