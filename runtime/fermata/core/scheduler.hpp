// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who runs next, and everything that decides how a run ends.
//
// Switching    A coroutine that suspends does one tick on its own stack and switches straight to
//              the next ready one. When there is none, or the reactor is due, control goes to the
//              scheduler's own context, whose loop turns the reactor. A finished coroutine hands
//              its context to the next one that has not started yet (CORE-SC-07).
// Ticks        Most come to nothing but taking the head of the ready queue; whatever needs more
//              (microtasks, a look at the reactor, an observer, a chooser) calls for attention.
// Endings      Deadlock (CORE-SC-10), graceful shutdown (CORE-SC-13), forced unwinding.
// Files        scheduler.cpp: spawn, wake, cancel; switching.hpp and scheduler_switch.cpp: from one
//              coroutine to the next; scheduler_loop.cpp: the loop, what a tick rarely does;
//              scheduler_finish.cpp, scheduler_shutdown.cpp: the end of a coroutine, of a run.

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/base/source_place.hpp"
#include "fermata/base/time.hpp"
#include "fermata/context/context_pool.hpp"
#include "fermata/context/stack_fault.hpp"
#include "fermata/core/coroutine.hpp"
#include "fermata/core/kernel.hpp"
#include "fermata/core/metrics.hpp"
#include "fermata/core/microtasks.hpp"
#include "fermata/core/reactor.hpp"
#include "fermata/core/ready_queue.hpp"
#include "fermata/core/scope_base.hpp"
#include "fermata/core/soft_resolver.hpp"
#include "fermata/core/timer.hpp"

namespace fermata {

namespace detail {

class Sweep;

/// Ends the calling coroutine quietly on behalf of fermata::exit.
class ExitUnwind : public Cancellation {
 public:
  ExitUnwind() : Cancellation("exit") {}
};

class Scheduler {
 public:
  explicit Scheduler(Runtime& runtime);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler();

  // --- one run ---

  /// Runs `main` on the caller's stack and then the loop to its end; throws the exit error.
  void run(CoroutineBase& main);
  [[nodiscard]] bool is_active() const noexcept { return active_; }
  [[nodiscard]] std::optional<int> exit_code() const noexcept { return exit_code_; }
  [[nodiscard]] const std::vector<std::exception_ptr>& exit_errors() const noexcept {
    return exit_errors_;
  }

  // --- coroutines ---

  /// Registers and queues a created coroutine and takes a reference of its own. A null scope is
  /// that of the current coroutine, or else the root scope. Throws UsageError when the scope takes
  /// no more; on failure nothing is registered (CORE-CO-15).
  void spawn(CoroutineBase& coroutine, Priority priority, ScopeBase* scope);

  /// Waits for what the current coroutine's waker has registered (CORE-WK-08). Returns when one of
  /// the events answered; the caller takes the result and clears the waker. Throws the error that
  /// the wait ended with; the waker is clear then.
  void suspend(const SourcePlace& place);
  /// suspend() that becomes a part of its caller, which includes switching.hpp. Returns the error
  /// that the wait ended with, or null; throws what keeps it from beginning, like a cancellation.
  [[nodiscard]] std::exception_ptr suspend_within(const SourcePlace& place);
  /// Waits for one event, which is open, and returns its result: resume_when and suspend in one.
  void* wait_for(Event& event, const SourcePlace& place);
  /// wait_for() that becomes a part of its caller, which includes switching.hpp.
  void* wait_within(Event& event, const SourcePlace& place);
  /// wait_within() of an event without a result; errors are returned as by suspend_within().
  [[nodiscard]] std::exception_ptr wait_for_end_within(Event& event, const SourcePlace& place);

  /// Another ready coroutine may go first; whoever chooses in order lets the current one go on.
  void offer(const SourcePlace& place);
  /// The current coroutine has had its ForcedUnwind where no exception may get out, and goes on.
  void keep_unwinding() noexcept { current_->set(CoroutineBase::kKeepsUnwind); }
  /// Ends the current coroutine where it is, by `error` or, without one, as if it had returned. Its
  /// stack is given back, and what is on it is not destroyed. REQUIRES: can_suspend().
  [[noreturn]] void drop_current(std::exception_ptr error);
  void set_priority(CoroutineBase& coroutine, Priority priority) noexcept;
  /// Whether a coroutine runs that could suspend here.
  [[nodiscard]] bool can_suspend() const noexcept;
  /// Ends a wait by `limit`; false when that must not be, and a later one ends so.
  bool interrupt(CoroutineBase& coroutine, Event& source, const Limit& limit);

  /// Lets every other ready coroutine go first. A suspension point like any other.
  void yield(const SourcePlace& place);
  /// Answers a waiting coroutine; the first one wins, later ones are ignored (CORE-WK-07). Throws
  /// UsageError when it has not been suspended (CORE-WK-10).
  void wake(CoroutineBase& coroutine, Event* source, void* result, const std::exception_ptr& error,
            backend::WakeCause cause);
  /// What a pass does for its only subscriber, if that waits and gets a result; else returns false.
  bool answer_only(backend::Registration& registration, backend::CallbackVector& subscribers,
                   const Outcome& outcome);

  void cancel(CoroutineBase& coroutine, std::exception_ptr reason, bool safely);
  /// Cancels a coroutine on behalf of its scope: with `safely` one that has started runs on as a
  /// zombie. `reason` is what as_own_cancellation() gives.
  void cancel_member(CoroutineBase& coroutine, const std::exception_ptr& reason, bool safely);
  void enter_protected();
  /// Returns the cancellation that arrived inside, when the outermost region ends with one. In a
  /// destructor it stays pending.
  [[nodiscard]] std::exception_ptr leave_protected() noexcept;
  void enter_destructor();
  void leave_destructor() noexcept {
    FERMATA_ASSERT(current_->destructor_depth_ > 0);
    --current_->destructor_depth_;
  }
  /// Whether the coroutine that runs is in a destructor, as far as anybody knows: one that an
  /// exception has called, or one that says so. What is thrown there may end the program.
  [[nodiscard]] static bool in_destructor(const CoroutineBase& running) noexcept {
    return running.destructor_depth_ > 0 || std::uncaught_exceptions() > 0;
  }

  void queue_microtask(backend::Microtask& task) {
    microtasks_.push(task);
    call_for_attention();
  }

  /// Whether the coroutine is being unwound by force: it must not wait any more.
  [[nodiscard]] static bool unwinding(const CoroutineBase& coroutine) noexcept {
    return coroutine.has(CoroutineBase::kUnwinding);
  }

  /// Whether it is, or a ForcedUnwind has ended it.
  [[nodiscard]] static bool unwound(const CoroutineBase& coroutine) noexcept {
    return unwinding(coroutine) || coroutine.has(CoroutineBase::kToldToUnwind);
  }
  /// Bytes of its stack that a started coroutine has used so far; 0 when unknown.
  [[nodiscard]] std::size_t stack_high_water(const CoroutineBase& coroutine) const noexcept {
    return coroutine.context_ == nullptr ? 0 : contexts_.high_water_bytes(*coroutine.context_);
  }

  /// Throws UsageError unless the caller is a coroutine that may suspend here.
  CoroutineBase& require_suspendable(const char* operation) const;

  // --- endings ---

  void start_shutdown(std::exception_ptr reason);
  /// The second stage: everybody is cancelled again, who still waits is unwound by force.
  void finish_shutdown(std::exception_ptr reason);
  [[noreturn]] void request_exit(int code);
  void on_stop_signal(int signum);
  void report_unhandled(std::exception_ptr error);
  [[nodiscard]] bool is_shutting_down() const noexcept { return phase_ != Phase::Running; }
  /// For people: whose destructor has let out its ForcedUnwind, and why it had one. Empty unless
  /// the coroutine that runs has been given one.
  [[nodiscard]] std::string describe_escape() const;
  /// No handler of the user's is called any more.
  [[nodiscard]] bool ends_by_force() const noexcept { return unwinding_ || abandoned_; }

  /// Asked before a deadlock is declared, in the order of their addition, and removed then.
  void add_soft_resolver(SoftResolver& resolver) noexcept { soft_resolvers_.push_back(resolver); }
  void remove_soft_resolver(SoftResolver& resolver) noexcept { soft_resolvers_.remove(resolver); }

  // --- state ---

  [[nodiscard]] CoroutineBase* current() const noexcept { return current_; }
  [[nodiscard]] const CoroutineBase::Registry& registry() const noexcept { return registry_; }
  [[nodiscard]] std::size_t active_coroutine_count() const noexcept;
  [[nodiscard]] const ReadyQueue& ready() const noexcept { return ready_; }
  [[nodiscard]] const MicrotaskQueue& microtasks() const noexcept { return microtasks_; }
  [[nodiscard]] bool in_scheduler_context() const noexcept { return in_scheduler_context_; }
  [[nodiscard]] Kernel& kernel() noexcept { return kernel_; }
  [[nodiscard]] const Kernel& kernel() const noexcept { return kernel_; }
  [[nodiscard]] Metrics& metrics() noexcept { return metrics_; }
  [[nodiscard]] const Metrics& metrics() const noexcept { return metrics_; }
  [[nodiscard]] const ContextPool& contexts() const noexcept { return contexts_; }
  /// The running context of this runtime, for code that switches runtimes.
  [[nodiscard]] StackContext* running_context() const noexcept { return running_; }
  [[nodiscard]] ScopeBase& root_scope() const {
    FERMATA_REQUIRE(scopes_.root() != nullptr, "root_scope: the runtime is not running");
    return *scopes_.root();
  }
  /// The scope of what the current coroutine spawns.
  [[nodiscard]] ScopeBase& current_scope() const {
    const bool inside = current_ != nullptr && current_->scope_ != nullptr;
    return inside ? *current_->scope_ : root_scope();
  }
  [[nodiscard]] ScopeForest& scopes() noexcept { return scopes_; }
  [[nodiscard]] const ScopeForest& scopes() const noexcept { return scopes_; }
  [[nodiscard]] auto& main_start_handlers() noexcept { return main_start_handlers_; }
  void add_shutdown_finalizer(std::function<void()> finalizer) {
    shutdown_finalizers_.push_back(std::move(finalizer));
  }

  /// Coroutines and events are numbered from 1 again, and the ready queue is small again: a
  /// simulated run must not depend on the runs before it. REQUIRES: none is left.
  void reset() noexcept {
    FERMATA_ASSERT(registry_.empty());
    FERMATA_ASSERT(kernel_.live_events.empty());
    next_id_ = 1;
    kernel_.next_serial = 1;
    ready_.reset();
    scopes_.restart_numbering();
  }

  /// A turn of the reactor has read the clock.
  void on_turn(Instant time) noexcept { turned_at_ = time; }

  /// The next tick polls the reactor, whatever the budget says: virtual time has moved.
  void request_poll() noexcept {
    poll_at_ = 0;
    call_for_attention();
  }

 private:
  friend class Sweep;
  friend struct DebuggerLayout;

  enum class Phase : std::uint8_t { Running, Graceful, Final };

  [[nodiscard]] bool has_native_work() const noexcept {
    return !microtasks_.empty() || !reported_errors_.empty();
  }
  /// Makes the next tick take the slow path.
  void call_for_attention() noexcept { attention_at_ = 0; }

  // switching.hpp, scheduler_switch.cpp
  [[nodiscard]] CoroutineBase& suspendable(const char* operation) const;
  [[noreturn]] void refuse_suspend(const char* operation) const;
  static void coroutine_context(StackContext& self) noexcept;
  static void scheduler_context(StackContext& self) noexcept;
  void start_events(CoroutineBase& me);
  /// In these two the answer is in the waker then, and may be an error.
  CoroutineBase& answered_by(Event& event, const SourcePlace& place);
  void wait_until_answered(CoroutineBase& me, bool start, const SourcePlace& place);
  void refuse_wait(CoroutineBase& me, const SourcePlace& place);
  void change_places(CoroutineBase& me, CoroutineBase& next, const SourcePlace& place);
  void yield_slow_path(CoroutineBase& me, const SourcePlace& place);
  void park(CoroutineBase& me, const SourcePlace& place);
  void regains_control(CoroutineBase& me);
  /// regains_control(), and throws the error that the wait ended with.
  void resumed(CoroutineBase& me);
  CoroutineBase* tick(CoroutineBase* leaving);
  CoroutineBase* attend(CoroutineBase* leaving);
  void end_step();
  CoroutineBase* pick();
  CoroutineBase* pick_within();
  CoroutineBase* take_head();
  CoroutineBase* with_context(CoroutineBase* next);
  bool give_context(CoroutineBase& coroutine);
  void look_ahead() const;
  /// To the scheduler itself when `next` is null.
  void switch_to(CoroutineBase* next);
  void rest(StackContext& self, CoroutineBase* next);
  void raise_pending(CoroutineBase& me, const SourcePlace& place);
  [[noreturn]] void throw_wait_error(CoroutineBase& me);

  // scheduler_loop.cpp
  void loop();
  void time_step();
  void drain_microtasks();
  [[nodiscard]] bool look(const CoroutineBase* leaving);
  void poll(backend::TurnMode mode);
  [[nodiscard]] bool close_scopes() noexcept;
  void run_body(CoroutineBase& coroutine);
  void call_switch_handlers(CoroutineBase& coroutine, backend::SwitchMoment moment);

  // scheduler.cpp
  /// Registers and queues, also while the runtime shuts down.
  void enlist(CoroutineBase& coroutine, Priority priority, ScopeBase& scope);
  /// From here on it is one of the runtime's coroutines, which holds a reference to it.
  void enroll(CoroutineBase& coroutine, ScopeBase& scope);
  void spawn_by_strategy(CoroutineBase& coroutine, Priority priority, ScopeBase& asked);
  [[noreturn]] void refuse_spawn(const ScopeBase& scope) const;
  void cancel_at_birth(CoroutineBase& coroutine);
  void cancel_with(CoroutineBase& coroutine, const std::exception_ptr& reason, bool safely);
  void become_zombie(CoroutineBase& coroutine) noexcept;
  void enqueue(CoroutineBase& coroutine, backend::WakeCause cause) {
    if (coroutine.priority_ != Priority::High || cause == backend::WakeCause::Yield) [[likely]] {
      ready_.push_back(coroutine);
    } else {
      ready_.push_front(coroutine);
    }
    coroutine.waker_.status = backend::WakerStatus::Queued;
    kernel_.trace(backend::Trace::Enqueued, &coroutine, static_cast<std::uint64_t>(cause));
  }
  [[nodiscard]] bool runs(const CoroutineBase& coroutine) const noexcept;
  [[nodiscard]] bool waits_in_destructor(const CoroutineBase& coroutine) const noexcept;
  void deliver_cancellation(CoroutineBase& coroutine, const std::exception_ptr& reason,
                            backend::WakeCause cause);
  void clear_protection(CoroutineBase& coroutine) noexcept;

  // scheduler_finish.cpp
  void finalize(CoroutineBase& coroutine, std::exception_ptr&& error);
  void finalize_unstarted(CoroutineBase& coroutine);
  static std::exception_ptr final_error(CoroutineBase& coroutine, std::exception_ptr error);
  void end_switch_handlers(CoroutineBase& coroutine);
  void launch_finally(CoroutineBase& coroutine);
  void leave_scope(CoroutineBase& coroutine) noexcept {
    std::exchange(coroutine.scope_, nullptr)->leave(coroutine);
  }
  void leave_scope_failed(CoroutineBase& coroutine);
  [[nodiscard]] std::exception_ptr unhandled_error(CoroutineBase& coroutine);
  void settle_error(CoroutineBase& coroutine, const std::exception_ptr& unhandled);
  [[nodiscard]] bool is_owed(const CoroutineBase& failed) const noexcept;

  // scheduler_shutdown.cpp
  void handle_loop_exception(std::exception_ptr error);
  /// A null reason gives each its own "Deadlock detected".
  void cancel_all(const std::exception_ptr& reason, backend::WakeCause cause);
  void enter_final_phase() noexcept;
  void drop_deadline() noexcept;
  /// Whether something can happen again.
  bool resolve_softly();
  void resolve_deadlock();
  void unwind_all();
  bool unwind_next();
  void resume_destructor(std::size_t turns);
  void throw_into(CoroutineBase& coroutine);
  void note_unwound(CoroutineBase& coroutine, const SourcePlace& place);
  void enter_to_unwind(CoroutineBase& coroutine);
  bool launch_finalizers();
  void drop_from_ready(CoroutineBase& coroutine) noexcept;
  void begin_run();
  void watch_control_signals();
  void end_run();

  Runtime& runtime_;

  // What runs.
  CoroutineBase* current_ = nullptr;
  StackContext* running_ = nullptr;
  bool in_scheduler_context_ = true;  // So that nobody suspends outside of a run either.
  Kernel kernel_;

  // What can run.
  ReadyQueue ready_;
  Metrics metrics_;
  std::uint64_t attention_at_ = 0;  // The latest tick that takes the slow path.

  // When to look at the reactor.
  std::uint64_t poll_at_ = 0;  // The tick that looks; 0: the next one, and it polls.
  unsigned poll_budget_ = 1;   // How many ticks after the one before.
  Duration turn_spacing_ = Duration::zero();
  Instant last_poll_;
  Instant turned_at_;  // When timers were looked at last.
  Instant step_began_;
  bool watched_ = false;                         // Somebody wants to see every tick.
  bool step_limited_ = false;                    // Slow steps are to be reported.
  std::unique_ptr<backend::Watchdog> watchdog_;  // Null unless they are, and time is real.

  MicrotaskQueue microtasks_;
  bool microtasks_paused_ = false;  // One threw: the rest waits for the next tick.
  std::vector<std::exception_ptr> reported_errors_;
  CoroutineBase::Registry registry_;
  std::size_t zombies_ = 0;  // Registered ones.
  std::uint64_t next_id_ = 1;
  ScopeForest scopes_;

  ContextPool contexts_;
  std::optional<StackFaultGuard> stack_fault_guard_;
  StackContext thread_context_;
  StackContext* scheduler_context_ = nullptr;  // During a run.

  // How the run ends.
  bool active_ = false;
  bool abandoned_ = false;               // An observer has cut the run.
  std::jmp_buf* end_of_main_ = nullptr;  // Where the main coroutine goes on when it is dropped.
  bool unwinding_ = false;               // Nobody is picked from the ready queue any more.
  Phase phase_ = Phase::Running;
  SoftResolver::List soft_resolvers_;
  unsigned deadlock_rounds_ = 0;
  struct Unwound {
    std::uint64_t coroutine;  // Its id.
    SourcePlace waited_at;
  };
  std::vector<Unwound> unwound_;  // Who has been given a ForcedUnwind, and where.
  std::optional<int> exit_code_;
  std::vector<std::exception_ptr> exit_errors_;  // Newest first.
  Ref<Timer> deadline_;                          // Of the graceful shutdown.
  Subscription deadline_watch_;
  bool finalizers_launched_ = false;
  std::vector<std::shared_ptr<backend::SwitchHandler>> main_start_handlers_;
  std::vector<std::function<void()>> shutdown_finalizers_;
};

}  // namespace detail
}  // namespace fermata
