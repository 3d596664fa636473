// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a poll reactor waits: the only thing in which libev, libevent, poll, select and the loops of
// others differ.
//
// Level    A descriptor that stays ready is told in every wait (level-triggered).
// Time     The reactor keeps the timers; a backend is only told when to be back.
// Waking   A wait is ended from other threads and from signal handlers by a descriptor of the
//          reactor's own, which it watches like any other: backends need no wake-up.
// Errors   Nothing may be thrown through frames that are not C++.

#include <memory>
#include <string_view>

#include "fermata/base/time.hpp"
#include "fermata/reactor/poll.hpp"

namespace fermata::poll {

inline constexpr PollMask kAllKinds =
    PollMask::Readable | PollMask::Writable | PollMask::Disconnect | PollMask::Prioritized;

struct Capabilities {
  /// The kinds of readiness that watch() accepts. The reactor waits for the others by its own
  /// means.
  PollMask kinds = PollMask::None;
  /// Whether it may be given descriptors that users bring: those may be closed, and their numbers
  /// mean other files, at any time, which must do no more harm than a readiness that is missing or
  /// wrong. Else the reactor watches them by means of its own.
  bool foreign_descriptors = false;
  /// Numbers from here on cannot be watched; 0: the system's limit is the only one.
  int descriptor_limit = 0;
  /// Whether a wait is the loop of somebody else.
  bool hosted = false;
};

/// The receiver of what a wait has found.
class Sink {
 public:
  /// `mask` may have more than is watched, and may be wrong: whoever reads or writes must cope with
  /// EAGAIN. Called inside wait() only. watch() and unwatch() may be called meanwhile, for this
  /// descriptor and any other.
  virtual void ready(int descriptor, PollMask mask) noexcept = 0;

 protected:
  ~Sink() = default;
};

/// One thread's. A descriptor is watched at most once, and, unless it is foreign, unwatched before
/// it is closed.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  [[nodiscard]] virtual Capabilities capabilities() const noexcept = 0;

  /// Watches `descriptor`, which is open, for `mask`, which is not empty and within `kinds`,
  /// instead of what it was watched for before. Throws PollError naming the descriptor; then it is
  /// not watched.
  virtual void watch(int descriptor, PollMask mask) = 0;
  /// No effect when it is not watched. What was found and not told yet is not told any more.
  virtual void unwatch(int descriptor) noexcept = 0;

  /// Tells `sink` what is ready; when nothing is, waits for it, not longer than until `wake_by` on
  /// CLOCK_MONOTONIC, rounded up to the backend's unit. An instant that is past: does not wait. May
  /// return early with nothing. Throws PollError when the system cannot wait.
  virtual void wait(Instant wake_by, Sink& sink) = 0;

  /// The library's or the host's loop: an ev_loop*, event_base*, uv_loop_t* ... Null for none.
  [[nodiscard]] virtual void* native_handle() noexcept { return nullptr; }
};

}  // namespace fermata::poll
