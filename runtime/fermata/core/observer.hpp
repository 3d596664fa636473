// SPDX-License-Identifier: Apache-2.0
#pragma once

// What happens inside a runtime, for somebody who checks it: the simulator's audit and trace hash.
// Production has none; every call is behind one null-pointer test.

#include <cstdint>
#include <string>
#include <string_view>

namespace fermata {
class Event;
class Runtime;

namespace detail {
class TraceLog;
class Pledge;
}  // namespace detail
}  // namespace fermata

namespace fermata::backend {

struct AssertionSite;

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

/// Thrown by an observer, this ends the run at once: no cancellation, every coroutine is unwound by
/// force, and `Runtime::run` throws it.
struct AbandonRun {};

class Observer {
 public:
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;

  /// Something happened to `subject` (null when the kind has none).
  [[gnu::always_inline]] void trace(Trace kind, const Event* subject, std::uint64_t detail) {
    subject != nullptr ? trace_of(kind, *subject, detail) : trace_alone(kind, detail);
  }

  /// Called when a step has ended and no state of the runtime is half-changed. May throw: the error
  /// is handled like an exception of the scheduler loop.
  virtual void end_step(Runtime& runtime) = 0;

  /// A rule of the runtime itself does not hold: `invariant` is its name in docs/invariants.md.
  virtual void broken(std::string_view invariant, const std::string& what) {
    static_cast<void>(invariant), static_cast<void>(what);
  }
  /// Why the observer has ended the run, as text for people.
  [[nodiscard]] virtual std::string why() const { return {}; }

  // --- assertions of the program, see assertions.hpp ---

  /// Called when an assertion was reached, and holds or not; `slack` is how far the numbers that it
  /// compares are inside the bound, 0 when it compares none.
  virtual void reached(const AssertionSite& site, bool holds, std::int64_t slack) {
    static_cast<void>(site), static_cast<void>(holds), static_cast<void>(slack);
  }

  /// Called when an assertion that must hold is violated; `details` is for people. Returns whether
  /// that matters: when not, the program goes on as if it held.
  virtual bool violated(const AssertionSite& site, const std::string& details) {
    static_cast<void>(site), static_cast<void>(details);
    return true;
  }

  /// `pledge` must come to hold; it lives until end_of_pledge(), which is `by_exception` when its
  /// scope is left by one. The second throws nothing.
  virtual void pledged(detail::Pledge& pledge) { static_cast<void>(pledge); }
  virtual void end_of_pledge(detail::Pledge& pledge, bool by_exception) noexcept {
    static_cast<void>(pledge), static_cast<void>(by_exception);
  }

 protected:
  /// Every trace goes to `trace_log`, if there is one; those of `noted` kinds to note() as well.
  /// `trace_log` must outlive this.
  explicit Observer(TraceKinds noted, detail::TraceLog* trace_log = nullptr) noexcept
      : trace_log_(trace_log), noted_(noted) {}

  void note_only(TraceKinds noted) noexcept { noted_ = noted; }

 private:
  // In production nobody observes: these are calls, which leave the hot paths short.
  void trace_of(Trace kind, const Event& subject, std::uint64_t detail);
  void trace_alone(Trace kind, std::uint64_t detail);
  /// When the trace log has no room, or is stopped.
  void trace_unready(Trace kind, const Event* subject, std::uint64_t detail);

  /// Throws nothing; only of a timer that fires between two steps, AbandonRun.
  virtual void note(Trace kind, const Event* subject, std::uint64_t detail) = 0;

  detail::TraceLog* trace_log_;
  TraceKinds noted_;
};

}  // namespace fermata::backend
