// SPDX-License-Identifier: Apache-2.0
#pragma once

// Scripts of calls that concern signals. Each step also tells which handlers have run in it.

#include <cstdint>

#include "tests/posix/scripts/script.hpp"

namespace fermata::test {

/// The script of this number, always the same.
[[nodiscard]] Script draw_signal_script(std::uint64_t number);
/// Handles all signals that scripts use, and lets them in.
void prepare_signals();

Perform change_mask;
Perform set_action;
Perform send_signal;
Perform queue_signal;
Perform tell_pending;
Perform take_signal;
Perform open_signals;
Perform read_signals;
Perform poll_signals;
Perform start_timer;
Perform break_pipe;

}  // namespace fermata::test
