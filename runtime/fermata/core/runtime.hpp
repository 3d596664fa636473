// SPDX-License-Identifier: Apache-2.0
#pragma once

// One event loop with its coroutines: what a program creates, and what `run()` brings to life.
//
// Threads     One runtime per thread at a time; every call on the thread of run(), except wake().
// Nesting     A runtime may run inside a coroutine of another one, as simulated nodes do.
// Suspension  Nothing here suspends, unless it says so.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "fermata/base/block_pool.hpp"
#include "fermata/base/function_ref.hpp"
#include "fermata/base/inlining.hpp"
#include "fermata/base/time.hpp"
#include "fermata/context/context_pool.hpp"
#include "fermata/core/chooser.hpp"
#include "fermata/core/coroutine.hpp"
#include "fermata/core/kernel.hpp"
#include "fermata/core/lazy_body.hpp"
#include "fermata/core/reactor.hpp"
#include "fermata/core/scheduler.hpp"
#include "fermata/core/timer_queue.hpp"

namespace fermata {

struct LogLine;

struct RuntimeOptions {
  /// The name of the runtime in messages and dumps.
  std::string name = "main";
  StackOptions stacks;

  /// How long a graceful shutdown may take before coroutines are unwound by force.
  Duration shutdown_deadline = std::chrono::seconds(5);

  /// SIGINT and SIGTERM start a graceful shutdown, a second one ends it by force; `run` then
  /// returns 128 plus the signal's number.
  bool handle_stop_signals = true;

  /// The signal that writes a dump of all coroutines to the log; 0 for none.
  int dump_signal = 0;

  /// Steps longer than this are reported to the log when they end and, in real time, while they
  /// still run: that report comes from a thread of its own. Zero for never.
  Duration slow_step = Duration::zero();

  /// Whether a failed FERMATA_ALWAYS or FERMATA_UNREACHABLE of this runtime is reported to standard
  /// error and aborts the process at once, instead of throwing. Not in simulation.
  bool abort_on_failed_assertion = false;

  /// Where reports go (deadlocks, slow steps, dumps, unhandled errors during shutdown). Null: the
  /// standard error stream. With `slow_step`, called from two threads.
  std::function<void(std::string_view)> log;
  /// Where the program's own log goes: FERMATA_LOG and log_line(). Null: the standard error stream,
  /// with time and coroutine. Called on the thread of the runtime; must not suspend.
  std::function<void(const LogLine&)> log_sink;

  /// Makes every choice of the runtime; null in production. Must outlive the runtime.
  backend::Chooser* chooser = nullptr;
  /// Watches every step; null in production. Must outlive the runtime.
  backend::Observer* observer = nullptr;
};

class Runtime {
 public:
  explicit Runtime(std::unique_ptr<backend::Reactor> reactor, RuntimeOptions options = {});
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();

  /// Runs `body` as the main coroutine, on the caller's own stack, and then the loop until no
  /// coroutine is left. Returns the body's value when that is an int, the code of `exit`, 128 plus
  /// the number of a stop signal, else 0. Throws what ended the run: the newest unhandled error,
  /// or DeadlockError, with the earlier ones linked. May be called again afterwards.
  /// `body` may also be a Task, or return one: the Task is awaited, and its value counts.
  template <class Body>
  int run(Body&& body) {
    int code = 0;
    run_main([&] {
      if constexpr (std::is_same_v<decltype(detail::run_body(body)), int>) {
        code = detail::run_body(body);
      } else {
        detail::run_body(body);
      }
    });
    return scheduler_.exit_code().value_or(code);
  }

  /// Starts a graceful shutdown: every coroutine gets a cancellation, `reason` if given, and
  /// new ones are cancelled at once. Idempotent.
  void shutdown(std::exception_ptr reason = nullptr) { scheduler_.start_shutdown(reason); }

  /// Ends a blocking turn of the reactor. From any thread.
  void wake() noexcept { reactor_->wake(); }

  // --- what there is ---

  [[nodiscard]] const std::string& name() const noexcept { return options_.name; }
  [[nodiscard]] const RuntimeOptions& options() const noexcept { return options_; }
  [[nodiscard]] backend::Reactor& reactor() const noexcept { return *reactor_; }
  [[nodiscard]] Instant now() const { return reactor_->now(); }
  [[nodiscard]] bool is_running() const noexcept { return scheduler_.is_active(); }
  /// The coroutine whose code is running, or null outside of any.
  [[nodiscard]] CoroutineBase* current() const noexcept { return scheduler_.current(); }
  /// The scope that owns coroutines without another scope. Throws UsageError outside of a run.
  [[nodiscard]] ScopeBase& root_scope() const { return scheduler_.root_scope(); }
  /// Coroutines that were spawned and are not finished, in the order of their ids.
  [[nodiscard]] const CoroutineBase::Registry& registry() const noexcept {
    return scheduler_.registry();
  }
  [[nodiscard]] std::size_t active_event_count() const noexcept { return kernel().active_events; }
  [[nodiscard]] const Metrics& metrics() const noexcept { return scheduler_.metrics(); }
  /// Every unhandled error of the last run, newest first (CORE-SC-15).
  [[nodiscard]] std::vector<std::exception_ptr> exit_errors() const;
  /// All coroutines: what each is, waits for, and how much stack it has used.
  [[nodiscard]] std::string dump() const;

  // --- extension points ---

  /// Adds a switch handler that is copied to the main coroutine of every later run, and called with
  /// Enter when it starts.
  void add_main_start_handler(std::shared_ptr<backend::SwitchHandler> handler);

  /// Adds a function that runs once, when a shutdown begins or the run ends; in registration order,
  /// in coroutines of high priority: one that suspends lets the next start.
  void add_shutdown_finalizer(std::function<void()> finalizer);

  void queue_microtask(backend::Microtask& task) { scheduler_.queue_microtask(task); }
  [[nodiscard]] backend::SlotKey allocate_slot() noexcept { return backend::SlotKey{next_slot_++}; }
  void log(std::string_view text) const;

  // --- for reactors ---

  /// Fires every timer that is due. Those armed meanwhile wait for the next turn. Throws AbandonRun
  /// when the observer does.
  void fire_timers();
  [[nodiscard]] detail::TimerQueue& timers() noexcept { return timers_; }
  /// Handles a control signal; called inside a turn.
  void on_control_signal(int signum);
  /// Reports an error that cannot be delivered to a coroutine: it is handled like an exception of
  /// the scheduler loop.
  void report_unhandled(std::exception_ptr error) { scheduler_.report_unhandled(std::move(error)); }

  // --- for the core ---

  [[nodiscard]] detail::Kernel& kernel() noexcept { return scheduler_.kernel(); }
  [[nodiscard]] const detail::Kernel& kernel() const noexcept { return scheduler_.kernel(); }
  [[nodiscard]] detail::Scheduler& scheduler() noexcept { return scheduler_; }
  [[nodiscard]] const detail::Scheduler& scheduler() const noexcept { return scheduler_; }
  [[nodiscard]] detail::BlockPool& blocks() noexcept { return blocks_; }

 private:
  friend class detail::Scheduler;
  friend struct detail::DebuggerLayout;

  void run_main(detail::FunctionRef<void()> body);

  RuntimeOptions options_;
  std::unique_ptr<backend::Reactor> reactor_;
  detail::BlockPool blocks_;
  detail::TimerQueue timers_;
  std::size_t next_slot_ = 0;
  detail::Scheduler scheduler_;
  detail::Link<Runtime> debugger_link_;
};

FERMATA_HOT void Event::touched() const { runtime_->kernel().touched(*this); }

namespace detail {

/// The runtime that is current on this thread; null outside of run(). The simulator sets it when it
/// changes nodes.
inline constinit thread_local Runtime* current_runtime_pointer = nullptr;

[[noreturn]] void throw_no_runtime();

/// Marks that user code runs where nobody may suspend.
class NoSuspend {
 public:
  explicit NoSuspend(Runtime& runtime) noexcept : kernel_(runtime.kernel()) {
    ++kernel_.no_suspend;
  }
  NoSuspend(const NoSuspend&) = delete;
  NoSuspend& operator=(const NoSuspend&) = delete;
  ~NoSuspend() { --kernel_.no_suspend; }

 private:
  Kernel& kernel_;
};

}  // namespace detail

/// The runtime that is running on this thread. Throws UsageError outside of run().
[[nodiscard]] inline Runtime& current_runtime() {
  if (detail::current_runtime_pointer == nullptr) [[unlikely]] {
    detail::throw_no_runtime();
  }
  return *detail::current_runtime_pointer;
}

}  // namespace fermata
