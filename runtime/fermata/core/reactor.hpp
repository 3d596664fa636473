// SPDX-License-Identifier: Apache-2.0
#pragma once

// Time and every event from outside, as far as the scheduler needs to know: the narrow side of a
// reactor. The parts that users' I/O goes through are declared in fermata/reactor.
//
// Rule   No user code runs inside a turn: what a reactor does is to complete requests and fire
//        events, which wake coroutines (RX-01).
// Order  Within a turn: due timers, then I/O, then signals.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/time.hpp"
#include "fermata/core/watchdog.hpp"

namespace fermata {

class Runtime;

namespace backend {

// The parts. A reactor that lacks one throws Unsupported from its getter.
class Polls;
class Signals;
class Triggers;
class Streams;
class Datagrams;
class Files;
class Names;
class Processes;
class FileWatches;
class Threads;
class Offload;

}  // namespace backend

/// Nanoseconds since 1970-01-01 UTC. May jump; for display and protocols, never for waiting.
struct WallTime {
  std::int64_t nanoseconds = 0;
};

namespace backend {

enum class TurnMode : std::uint8_t {
  NoWait,  // collect what has happened
  Block,   // wait until something happens or `wake_by` has come
};

class Reactor {
 public:
  virtual ~Reactor() = default;

  [[nodiscard]] virtual std::string_view name() const noexcept = 0;

  /// The time, read afresh; never goes back. Cheap enough to be read at each arming.
  [[nodiscard]] virtual Instant now() noexcept = 0;
  [[nodiscard]] virtual WallTime wall_clock() noexcept = 0;

  /// A runtime begins to use this reactor: from now on it is the one to call back. Called at the
  /// start of Runtime::run, never twice without detach().
  virtual void attach(Runtime& runtime) = 0;

  /// The runtime is done: every handle that is still open is closed and its close acknowledged, in
  /// bounded time. Returns a line for each that the program has left open and for all that has not
  /// come to an end: leaks to be reported (RX-04).
  [[nodiscard]] virtual std::vector<std::string> detach() noexcept = 0;

  /// One turn: waits as `mode` says, not longer than until `wake_by`; then calls
  /// Runtime::fire_timers() once, before it completes I/O, and delivers signals last.
  virtual void turn(TurnMode mode, Instant wake_by) = 0;

  /// Ends a blocking turn. Callable from any thread, and from signal handlers.
  virtual void wake() noexcept = 0;

  /// The runtime wants Runtime::on_control_signal(signum) called, inside a turn, for these signals,
  /// by watchers that are not activity. Called once a run; detach() ends it.
  virtual void watch_control_signals(std::span<const int> signums) = 0;

  /// While coroutines keep their runtime busy: how long after one turn the next need not be. Zero
  /// where somebody counts on each, or time is not real.
  [[nodiscard]] virtual Duration turn_spacing() const noexcept { return Duration::zero(); }

  /// No coroutine is left. Starts what the run waits for all the same; false when there is nothing.
  virtual bool linger() { return false; }
  /// A graceful shutdown has begun.
  virtual void shutdown_began() noexcept {}
  /// The program is about to touch what its other threads may touch too: where the order of threads
  /// is a choice, they may go first.
  virtual void let_threads_in() noexcept {}

  /// Reports steps that last longer than `limit`. Null where time is not real.
  [[nodiscard]] virtual std::unique_ptr<Watchdog> make_watchdog(Duration limit,
                                                                Watchdog::Report report);

  // --- parts ---

  [[nodiscard]] virtual Polls& polls();
  [[nodiscard]] virtual Signals& signals();
  [[nodiscard]] virtual Triggers& triggers();
  [[nodiscard]] virtual Streams& streams();
  [[nodiscard]] virtual Datagrams& datagrams();
  [[nodiscard]] virtual Files& files();
  [[nodiscard]] virtual Names& names();
  [[nodiscard]] virtual Processes& processes();
  [[nodiscard]] virtual FileWatches& file_watches();
  [[nodiscard]] virtual Threads& threads();
  [[nodiscard]] virtual Offload& offload();
};

}  // namespace backend

}  // namespace fermata
