// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kinds of what happens inside a runtime, as an observer is told of it.

#include <cstdint>

namespace fermata::backend {

enum class Trace : std::uint8_t {
  EventCreated,      // subject
  EventStarted,      // subject, detail: loop references now
  EventStopped,      // subject, detail: loop references now
  EventFired,        // subject, detail: subscribers at the start of the pass
  EventClosed,       // subject
  EventDestroyed,    // subject; about to be freed
  CallbackAdded,     // subject: its event
  CallbackRemoved,   // subject: its event
  CallbackCalled,    // subject: its event
  Spawned,           // subject: the coroutine
  Enqueued,          // subject: the coroutine, detail: WakeCause
  Started,           // subject: the coroutine
  Entered,           // subject: the coroutine that gains control
  Left,              // subject: the coroutine that is about to yield
  Finished,          // subject: the coroutine
  Cancelled,         // subject: the coroutine
  MicrotaskRun,      // no subject
  Polled,            // detail: 1 when the reactor may block
  TimeAdvanced,      // detail: nanoseconds of the new time
  DeadlockReported,  // detail: coroutines in waiting
  ShutdownStarted,
};

/// Why a coroutine entered the ready queue (CORE-GL-06).
enum class WakeCause : std::uint8_t {
  Spawn,
  Yield,
  Event,
  Error,
  Cancel,
  Deadlock,
  Shutdown,
};

/// A set of kinds of traces.
class TraceKinds {
 public:
  template <class... Kinds>
  explicit constexpr TraceKinds(Kinds... kinds) noexcept : bits_((0u | ... | bit(kinds))) {}
  [[nodiscard]] static constexpr TraceKinds all() noexcept {
    TraceKinds kinds;
    kinds.bits_ = ~0u;
    return kinds;
  }
  [[nodiscard]] constexpr bool has(Trace kind) const noexcept {
    return ((bits_ >> static_cast<unsigned>(kind)) & 1) != 0;
  }

 private:
  static constexpr std::uint32_t bit(Trace kind) noexcept {
    return 1u << static_cast<unsigned>(kind);
  }
  std::uint32_t bits_;
};

}  // namespace fermata::backend
