// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace fermata::backend {

/// The kind of an event; it decides what start and stop mean and which events count as activity.
enum class EventKind : std::uint8_t {
  Plain,      // no-op start and stop: completed by code
  Scope,      // no-op start and stop
  Coroutine,  // no-op start and stop
  Timer,
  Poll,
  PollProxy,
  Signal,
  Trigger,
  Task,
  Thread,
  Process,
  Listener,
  Request,  // one I/O operation: active from submission to completion
  Io,       // a handle: start and stop move the loop references only
  Joint,    // a wait for several events: start and stop reach each of them; no activity itself
};

[[nodiscard]] const char* to_string(EventKind kind) noexcept;

}  // namespace fermata::backend
