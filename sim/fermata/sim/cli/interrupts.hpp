// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ctrl-C, and what a scheduler sends before it kills: asks the tool to end in order.

namespace fermata::sim::cli {

/// From now on SIGINT, SIGTERM and SIGHUP are counted instead of ending the process.
void count_interrupts();
[[nodiscard]] int interrupts() noexcept;

}  // namespace fermata::sim::cli
