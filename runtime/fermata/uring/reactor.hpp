// SPDX-License-Identifier: Apache-2.0
#pragma once

// A reactor on io_uring(7): completions instead of readiness, and one system call a turn.
//
// Serves   The clock, timers, polls, signals, triggers, the offload pool, and streams and listeners
//          over TCP. Other parts throw Unsupported.
// Needs    Linux 6.0, and a system that lets the process set up an io_uring: many containers and
//          sandboxes do not. Ask refusal() at run time.
// Writes   Under load, small writes are collected: they leave with the next turn, in one call with
//          everything else. So a write that was accepted may still fail; then the next one tells.

#include <memory>
#include <string>

#include "fermata/core/reactor.hpp"

namespace fermata::uring {

/// Why make_reactor() would throw, as its error says it; empty when it would not. Asks the system
/// each time.
[[nodiscard]] std::string refusal();

/// Whether the system lets this process use io_uring, in a version that is new enough.
[[nodiscard]] inline bool is_available() { return refusal().empty(); }

/// Its name is "uring". Throws InputOutputError, which names the cause, when the system refuses.
/// Each run has an io_uring of its own, on the thread that calls Runtime::run().
[[nodiscard]] std::unique_ptr<backend::Reactor> make_reactor();

}  // namespace fermata::uring
