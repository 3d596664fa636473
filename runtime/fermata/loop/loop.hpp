// SPDX-License-Identifier: Apache-2.0
#pragma once

// An event loop that calls back: timers, readiness, signals, deferred work and microtasks, on
// whatever reactor the runtime has.
//
// Where       Made inside Runtime::run and destroyed before its end. Callbacks are coroutine code:
//             they may suspend and use everything else of Fermata.
// Tick        Activates what was registered or enabled; calls the defers; takes one turn of the
//             reactor, waiting when there is nothing to do; calls what is due: timers by deadline,
//             then descriptors, notices among them, by registration, then signals by number.
//             Whatever is registered or enabled in a tick is called in a later one at the earliest.
// Microtasks  Run first in run(), and after each single callback; one that always queues another
//             starves the loop.
// Suspending  A callback that suspends leaves its tick, and the loop goes on with the next. It is
//             masked until it returns: not called again, unless the loop allows `overlap`.
// Liveness    run() returns when no callback is both enabled and referenced. Those that are not
//             referenced are called as long as others keep the loop alive.
// Errors      What a callback throws goes to the error handler and the loop goes on; without one it
//             leaves run() as an UncaughtError, and what was ready stays so for the next run(). A
//             callback that repeats stays enabled.
// Captures    What a function holds dies where it ran, or in the coroutine that cancels it: its
//             destructors may suspend. What they register while the loop is being destroyed is
//             released at once.
// Cost        In steady state nothing is allocated for a callback whose function is small.
// Threads     The runtime's thread only, except post().

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fermata/base/source_place.hpp"
#include "fermata/loop/callback.hpp"
#include "fermata/loop/errors.hpp"
#include "fermata/loop/suspension.hpp"
#include "fermata/loop/time_span.hpp"
#include "fermata/loop/tracer.hpp"

namespace fermata {
class Runtime;
}

namespace fermata::loop {

namespace detail {
class Machine;
class Member;
[[nodiscard]] std::shared_ptr<void>& fiber_value(std::uint64_t variable);
void clear_fiber_value(std::uint64_t variable);
}  // namespace detail

/// Which of two callbacks comes first when the contract leaves it open: timers of one deadline,
/// descriptors, callbacks of one signal, and the three kinds among themselves.
enum class TieOrder : std::uint8_t {
  Canonical,  // as the tick says
  Drawn,      // as the runtime's chooser says: for simulations; canonical where there is none
};

struct LoopOptions {
  /// A repeating callback is called again while an earlier call of it is suspended.
  bool overlap = false;
  /// The loop is driven by serve(), on behalf of a host; run() is refused.
  bool hosted = false;
  /// For a hosted loop: whether coroutines may suspend while it does not run, since the host is
  /// turned meanwhile (Guest::can_turn_host).
  bool host_can_be_turned = false;
  /// After so many callbacks of one tick the reactor, and with it a host, gets a turn; 0 for never.
  std::size_t callbacks_per_turn = 0;
  TieOrder ties = TieOrder::Canonical;
  /// Where a run of this many microtasks ends with a LivelockError; 0 for nowhere.
  std::size_t microtask_limit = 0;
  /// Must outlive the loop.
  Tracer* tracer = nullptr;
};

struct RunReport {
  bool stopped = false;       // Rather than out of callbacks.
  std::size_t suspended = 0;  // Callbacks and microtasks that have not returned.
};

/// Keeps a loop running, as a referenced callback does, for as long as it lives. It may outlive the
/// loop and the runtime, and does nothing then.
class KeepAlive {
 public:
  KeepAlive() noexcept = default;
  KeepAlive(KeepAlive&& from) noexcept = default;
  KeepAlive& operator=(KeepAlive&& from) noexcept;
  ~KeepAlive();

  void release() noexcept;

 private:
  friend class Loop;
  explicit KeepAlive(const std::shared_ptr<detail::Machine>& machine) noexcept;
  std::weak_ptr<detail::Machine> machine_;
};

class Loop {
 public:
  using ErrorHandler = std::function<void(std::exception_ptr)>;

  explicit Loop(LoopOptions options = {});
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  /// Cancels every callback, those that are suspended too: these unwind when the coroutines get
  /// their next turn. Never suspends. Throws nothing; a loop that runs aborts the program.
  ~Loop();

  /// The loop whose callback is running, or else the newest one of the current runtime. Throws
  /// UsageError when there is none.
  [[nodiscard]] static Loop& current();

  // --- registering: the new callback is enabled and referenced ---

  /// Runs `task` after the current callback, first in first out. It has no id and does not keep the
  /// loop alive.
  void queue(Task task);
  /// Queues `task` from any thread: it runs soon after. Does not keep the loop alive. Throws
  /// Unsupported where the reactor has no triggers.
  void post(Task task);

  CallbackId defer(TimedFunction function, SourcePlace place = SourcePlace::current());
  /// Counted from now, not from the tick that activates it. Never early.
  CallbackId delay(TimeSpan span, TimedFunction function,
                   SourcePlace place = SourcePlace::current());
  /// Each next call is due `interval` after the one before began; late ones are not made up for. A
  /// zero interval is once a tick.
  CallbackId repeat(TimeSpan interval, TimedFunction function,
                    SourcePlace place = SourcePlace::current());

  /// Level triggered; readiness may be spurious. Cancel it before the descriptor is closed: else
  /// it is forgotten without being called again, and its PollError is told as if it had thrown it.
  /// Throws PollError when `descriptor` cannot be watched: it is not open, or a regular file.
  CallbackId on_readable(int descriptor, SourceFunction function,
                         SourcePlace place = SourcePlace::current());
  CallbackId on_writable(int descriptor, SourceFunction function,
                         SourcePlace place = SourcePlace::current());
  /// Throws UsageError for a signal that cannot be handled, SignalInUse when another loop of the
  /// process handles it; each simulated machine is a process.
  CallbackId on_signal(int signum, SourceFunction function,
                       SourcePlace place = SourcePlace::current());
  /// How a signal callback that runs learns how many deliveries it stands for, as far as the system
  /// has told them apart. At least 1 for one that has been called.
  [[nodiscard]] std::size_t signal_count(CallbackId id) const;

  /// For events that come from elsewhere in the program.
  CallbackId on_notice(TimedFunction function, SourcePlace place = SourcePlace::current());
  /// The callback is called in the next tick in which it is enabled; several notices are one. May
  /// be called inside a turn of the reactor. No effect for an unknown id.
  void notice(CallbackId id);

  // --- control; unknown ids are as the method says ---

  /// Idempotent. A timer counts anew. Throws InvalidCallback.
  void enable(CallbackId id);
  /// Idempotent; silent for an unknown id. What is ready already is not called any more.
  void disable(CallbackId id);
  /// Forgets the id; whether there was one. A callback that runs runs on.
  bool cancel(CallbackId id, SourcePlace place = SourcePlace::current());
  /// Whether `id` was a delay or a repeat; others stay.
  bool cancel_timer(CallbackId id, SourcePlace place = SourcePlace::current());
  /// Cancels all delays and repeats, those too that are ready.
  void cancel_timers(SourcePlace place = SourcePlace::current());
  /// Idempotent. Throws InvalidCallback.
  void reference(CallbackId id);
  /// Idempotent; silent for an unknown id.
  void unreference(CallbackId id);
  [[nodiscard]] KeepAlive keep_alive();

  // --- queries ---

  [[nodiscard]] bool has(CallbackId id) const noexcept;
  /// Throw InvalidCallback.
  [[nodiscard]] bool is_enabled(CallbackId id) const;
  [[nodiscard]] bool is_referenced(CallbackId id) const;
  [[nodiscard]] CallbackKind kind(CallbackId id) const;
  [[nodiscard]] CallbackInfo info(CallbackId id) const;
  /// Delays and repeats; a delay no longer counts once its function runs.
  [[nodiscard]] std::size_t timer_count() const noexcept;
  /// In the order of registration.
  [[nodiscard]] std::vector<CallbackId> identifiers() const;
  /// The callbacks and objects that keep the loop running, one line each.
  [[nodiscard]] std::vector<std::string> kept_alive_by() const;
  /// Callbacks and microtasks that are suspended, one line each.
  [[nodiscard]] std::vector<std::string> suspended() const;
  [[nodiscard]] Runtime& runtime() const noexcept;

  // --- running ---

  /// Suspends the caller until the loop has ended. Throws AlreadyRunning, LoopIsHosted, and
  /// UncaughtError. The loop can run again, whatever ended it.
  RunReport run(SourcePlace place = SourcePlace::current());
  /// The tick that runs is finished, without waiting; everything stays registered. No effect while
  /// the loop does not run.
  void stop() noexcept;
  [[nodiscard]] bool is_running() const noexcept;

  /// For a host's coroutine: runs the loop as often as there is something to run, until stop();
  /// calls `on_idle` each time it has become empty.
  RunReport serve(const std::function<void()>& on_idle, SourcePlace place = SourcePlace::current());

  /// The current fiber's; see suspension.hpp. Throws UsageError outside of a coroutine.
  [[nodiscard]] Suspension suspension();

  // --- for what lives in the loop ---

  /// Registers `member`, which is told of the loop's end until it is removed.
  void add(detail::Member& member) noexcept;
  void remove(detail::Member& member) noexcept;

  // --- errors ---

  /// Called with what callbacks throw, where it may suspend as they do. What it throws leaves run()
  /// as an UncaughtError. Null for none.
  void set_error_handler(ErrorHandler handler);
  [[nodiscard]] const ErrorHandler& error_handler() const noexcept;

 private:
  friend std::shared_ptr<void>& detail::fiber_value(std::uint64_t variable);
  friend void detail::clear_fiber_value(std::uint64_t variable);

  std::shared_ptr<detail::Machine> machine_;
};

}  // namespace fermata::loop
