// SPDX-License-Identifier: Apache-2.0
#pragma once

// A reactor over any backend that can wait for descriptors.
//
// Serves   The clock, timers, polls, signals, triggers, the offload pool, and streams and listeners
//          over TCP. Other parts throw Unsupported.

#include <memory>

#include "fermata/core/reactor.hpp"
#include "fermata/poll/backend.hpp"

namespace fermata::poll {

/// Its name is the backend's. Throws InputOutputError when the system has no descriptors or memory
/// left for it, PollError when the backend cannot watch what the reactor needs.
[[nodiscard]] std::unique_ptr<backend::Reactor> make_reactor(std::unique_ptr<Backend> backend);

/// The native handle of the backend of a reactor that this has made; null for any other.
[[nodiscard]] void* native_handle(backend::Reactor& reactor) noexcept;

}  // namespace fermata::poll
