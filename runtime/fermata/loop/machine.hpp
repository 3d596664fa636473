// SPDX-License-Identifier: Apache-2.0
#pragma once

// What runs a loop.
//
// Driver    One runner at a time drives: it makes the ticks. A callback that suspends takes its
//           runner with it, and another one goes on at the same place (Runner::on_switch).
// Events    A turn of the reactor only moves sources to the collected ones and wakes the driver.
// Timers    Have no events of their own: one alarm stands for all. It is set when the driver looks
//           at the reactor, and follows the first deadline while the driver waits there.
// Activity  The loop's events are hidden: what the runtime sees is one wait, while the loop runs.
// Files     machine.cpp: sources; machine_tick.cpp: the ticks; machine_frame.cpp: calls, their
//           errors and suspensions; machine_run.cpp: the beginning and the end of a run.

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "fermata/core/spawn.hpp"
#include "fermata/loop/deadline_queue.hpp"
#include "fermata/loop/fiber.hpp"
#include "fermata/loop/id_table.hpp"
#include "fermata/loop/loop.hpp"
#include "fermata/loop/member.hpp"
#include "fermata/loop/source.hpp"
#include "fermata/loop/task_queue.hpp"
#include "fermata/reactor/trigger.hpp"
#include "fermata/system/mutex.hpp"

namespace fermata::loop::detail {

class Machine : public std::enable_shared_from_this<Machine> {
 public:
  Machine(Runtime& runtime, const LoopOptions& options);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine();

  /// The loop is destroyed.
  void close() noexcept;
  [[nodiscard]] bool is_closed() const noexcept { return closed_; }

  // --- sources ---

  CallbackId add_plain(CallbackKind kind, TimedFunction&& function, const SourcePlace& place);
  CallbackId add_timer(CallbackKind kind, Duration span, TimedFunction&& function,
                       const SourcePlace& place);
  CallbackId add_poll(CallbackKind kind, int descriptor, SourceFunction&& function,
                      const SourcePlace& place);
  CallbackId add_signal(int signum, SourceFunction&& function, const SourcePlace& place);

  void enable(CallbackId id);
  void disable(CallbackId id) noexcept;
  void cancel(Source& source, const SourcePlace& place);
  void cancel_timers(const SourcePlace& place);
  void set_referenced(Source& source, bool referenced) noexcept;
  void notice(CallbackId id);
  void hold() noexcept { ++alive_; }
  void let_go() noexcept;

  [[nodiscard]] Source* find(CallbackId id) const noexcept { return table_.find(id); }
  /// Throws InvalidCallback.
  [[nodiscard]] Source& require(CallbackId id, const char* operation) const;
  [[nodiscard]] const Source::All& sources() const noexcept { return all_; }
  [[nodiscard]] std::size_t timer_count() const noexcept { return timers_; }

  // --- what happens inside a turn ---

  void on_fire(Source& source, bool terminal);
  void on_alarm();
  void take_posted();

  // --- running ---

  void queue(Microtask task);
  /// From now on post() works, where the reactor has triggers.
  void listen();
  void post(Task task);
  /// Runs the loop until it has ended; null, or the main suspension that may end it.
  void enter(std::shared_ptr<Fiber> main, bool serving, const SourcePlace& place);
  void stop() noexcept;
  [[nodiscard]] bool is_running() const noexcept { return running_; }
  [[nodiscard]] RunReport report() const noexcept { return {stop_, suspended_.size()}; }
  /// Returns the error that has ended the run, or null; once.
  [[nodiscard]] std::exception_ptr take_error() noexcept;
  [[nodiscard]] std::vector<std::string> suspended_texts() const;
  /// The driver, if it waits, looks again.
  void poke() noexcept;

  // --- fibers ---

  /// Throws UsageError outside of any coroutine.
  [[nodiscard]] FiberHome& home();
  [[nodiscard]] std::shared_ptr<Fiber> fiber();
  /// Whether one of this loop's runners is the current coroutine, in user code.
  [[nodiscard]] bool in_callback() const noexcept;
  /// For a runner that is about to give up control.
  void left(Runner& runner);
  /// A coroutine beside the loop's waits for its resumption from here on, and no more.
  void waits_beside(Fiber& fiber) noexcept { beside_.push_back(fiber); }
  void waits_no_more(Fiber& fiber) noexcept { beside_.remove(fiber); }

  Runtime& runtime;
  const LoopOptions options;
  Loop::ErrorHandler error_handler;
  std::function<void()> on_idle;
  Member::List members;

 private:
  // machine.cpp
  CallbackId adopt(Source& source, const SourcePlace& place);
  void count_from_now(TimerSource& timer) const;
  void forget(Source& source, const SourcePlace* place) noexcept;
  void destroy(Source& source) noexcept;
  void push(Source& source, Line line) noexcept;
  void leave_line(Source& source) noexcept;
  [[nodiscard]] Source::Queue& queue_of(const Source& source) noexcept;
  [[nodiscard]] static std::size_t collected_index(CallbackKind kind) noexcept;
  void watch(Source& source);
  void unwatch(Source& source) noexcept;
  void deactivate(Source& source) noexcept;
  void activate(Source& source);

  // machine_tick.cpp
  void drive(Runner& me);
  bool drain(Runner& me);
  void begin_tick();
  void turn();
  void set_alarm();
  void idle(Runner& me);
  void collect();
  void sort_collected(Source::Queue& queue);
  [[nodiscard]] bool may_wait() const noexcept;
  [[nodiscard]] bool empty() const noexcept { return alive_ == 0; }
  [[nodiscard]] bool is_interrupted() const noexcept;
  [[nodiscard]] bool drives(const Runner& runner) const noexcept {
    return running_ && driver_ == &runner;
  }

  // machine_frame.cpp
  void run_microtask(Runner& me);
  void call_on_idle(Runner& me);
  void resume(Fiber& fiber);
  void invoke(Runner& me, Source& source);
  [[nodiscard]] static std::exception_ptr what_is_gone(const Source& source) noexcept;
  void refuse(Runner& me, Source& source, const std::exception_ptr& error);
  template <class Call>
  std::exception_ptr frame(Runner& me, Call&& call);
  void end_frame(Runner& me) noexcept;
  void fail(Runner& me, const std::exception_ptr& error, const std::string& where);
  void interrupt(std::exception_ptr error);
  void mask(Source& source) noexcept;
  void unmask(Source& source) noexcept;

  // machine_run.cpp
  void run_runner(Runner& me);
  void runner_failed(Runner& me, const std::exception_ptr& error) noexcept;
  void end_members() noexcept;
  [[nodiscard]] std::vector<Task>& take_posted_tasks();
  void appoint();
  void start_runner();
  void finish() noexcept;
  void refuse_suspended() noexcept;
  void park_polls() noexcept;
  void unpark_polls();

  const backend::SlotKey slot_;

  // What is registered.
  IdTable<Source> table_;
  Source::All all_;
  CallbackId next_id_ = 1;
  std::size_t alive_ = 0;  // Enabled and referenced ones, and holds.
  std::size_t timers_ = 0;
  DeadlineQueue deadlines_{table_};
  Alarm alarm_{*this};

  // What is to be done.
  Source::Queue enabling_;
  std::array<Source::Queue, 3> collected_;  // Timers, descriptors and notices, signals.
  Source::Queue ready_;
  TaskQueue<Microtask> microtasks_;
  std::size_t microtasks_in_a_row_ = 0;
  std::vector<Source*> scratch_;
  PollSource::Watched
      polls_;  // Watched descriptors; they are let go of while nobody runs the loop.

  // What other threads send.
  os::Mutex posted_lock_;
  std::vector<Task> posted_;
  std::vector<Task> taken_;
  Ref<backend::TriggerHandle> trigger_;  // Null where the reactor has none.
  Subscription trigger_watch_;

  // Who runs.
  bool running_ = false;
  bool serving_ = false;
  bool stop_ = false;
  bool closed_ = false;
  bool polls_next_ = false;  // The tick's turn is to come.
  bool idle_told_ = false;
  std::size_t calls_in_a_row_ = 0;
  Runner* driver_ = nullptr;
  Runner* resumed_ = nullptr;  // The driver waits until this one has given up control again.
  Runner::List idle_;
  Runner::List suspended_;
  Fiber::List beside_;  // Other coroutines that are suspended.
  std::shared_ptr<Fiber> main_;
  std::vector<std::exception_ptr> errors_;  // That end the run.
  bool waiting_ = false;
  Signpost parking_;   // The driver's wait for anything to do.
  Signpost handback_;  // Its wait for whom it has resumed.
  Signpost ended_;     // The wait of who runs the loop.
};

}  // namespace fermata::loop::detail
