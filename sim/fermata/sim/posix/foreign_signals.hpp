// SPDX-License-Identifier: Apache-2.0
#pragma once

// Signals of a simulated process, for code that was not written for Fermata.
//
// Handlers   Run at the next call of a thread that lets the signal in, or at once when it waits.
// Waits      One that a handler has interrupted ends with EINTR, or goes on where SA_RESTART says
//            so and Linux does it.
// Defaults   A signal that ends a process fails the run.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "fermata/core/event.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/posix/signals.hpp"
#include "fermata/sim/posix/foreign_timers.hpp"
#include "fermata/sim/posix/pending_signals.hpp"

namespace fermata::sim::detail {

class Machine;
class SignalDescriptor;

/// Fires when a signal has come that the coroutine lets in which waits.
class SignalArrival final : public Event {
 public:
  explicit SignalArrival(Runtime& runtime) : Event(runtime, backend::EventKind::Plain) {}
  ~SignalArrival() override { close(); }
  [[nodiscard]] std::string info() const override { return "the arrival of a signal"; }

  void come() {
    has_come_ = true;
    notify({});
  }
  /// Whether it is why a wait has ended; else the coroutine has been cancelled.
  [[nodiscard]] bool has_come() const noexcept { return has_come_; }

 private:
  void dispose() noexcept override {}

  bool has_come_ = false;
};

/// What signals need of the kernel that serves them.
class SignalHost {
 public:
  /// Waits until a signal comes: -EINTR, or -ETIMEDOUT. May suspend.
  virtual int wait_for_signal(const char* call, posix::Limit limit) = 0;
  [[nodiscard]] virtual bool knows_thread(pthread_t thread) = 0;
  /// The thread for which gettid() gives this number; 0 when there is none.
  [[nodiscard]] virtual pthread_t thread_numbered(pid_t number) = 0;
  /// Others may run first. May suspend.
  virtual void switch_threads(const char* call) = 0;
  /// Counts the processes of the machine.
  [[nodiscard]] virtual std::size_t process_index() const noexcept = 0;
  /// Opens a descriptor for signals, or changes the one that `known` is, which is -1 for none.
  virtual int open_signals(int known, SignalSet wanted, int flags) = 0;

 protected:
  ~SignalHost() = default;
};

class ForeignSignals final : public posix::Signals {
 public:
  ForeignSignals(SignalHost& host, Machine& machine) noexcept
      : host_(host), machine_(machine), timers_(*this, machine) {}
  ForeignSignals(const ForeignSignals&) = delete;
  ForeignSignals& operator=(const ForeignSignals&) = delete;
  ~ForeignSignals();

  /// A process begins.
  void begin_life();
  /// Its main coroutine ends, and with it the alarm and the timers.
  void main_ends() noexcept {
    drop_alarm();
    timers_.clear();
  }

  /// Whether a handler could run, or somebody waits for a signal.
  [[nodiscard]] bool are_used() const noexcept { return used_; }
  /// Whether the process has a handler for it.
  [[nodiscard]] bool handles(int signal) const noexcept;
  /// The process gets a signal from outside.
  void come(int signal);
  /// The current coroutine has written where nobody reads any more, by `call`.
  void break_pipe(const char* call);

  /// Something is going to be waited for: no handler has interrupted it yet.
  void begin_waiting() noexcept { may_restart_ = false; }
  /// Whether anything has come that the current coroutine lets in.
  [[nodiscard]] bool has_for_current();
  /// Runs the handlers of what has come for the current coroutine; whether one has run.
  bool deliver();
  /// Whether the handlers that deliver() has run let the call go on.
  [[nodiscard]] bool may_restart() const noexcept { return may_restart_; }
  /// A new thread has the mask of the one that makes it.
  void inherit(std::uint64_t thread);
  /// A thread has ended.
  void forget(std::uint64_t thread) { threads_.erase(thread); }
  /// Somebody may have left without what has come for the process: another one that waits is told.
  void pass_on();

  /// One of `wanted` that is pending for the current coroutine, which it is not any longer.
  [[nodiscard]] std::optional<PendingSignals::Entry> next_of(SignalSet wanted);
  /// What is pending for the process, and for the coroutine of this number or for any one.
  [[nodiscard]] SignalSet pending_for(std::uint64_t thread) const;
  [[nodiscard]] SignalSet all_pending() const;
  /// What timers need: whether a signal now waits that one sends to this thread, or with 0 to the
  /// process; that it does not wait any longer; a thread, as by thread_numbered().
  bool time_out(const siginfo_t& info, std::uint64_t thread);
  void forget_timer(int timer);
  [[nodiscard]] std::uint64_t thread_of(pid_t number);
  /// A descriptor of the process is told what comes, until it is removed.
  void add(SignalDescriptor& descriptor) { descriptors_.push_back(&descriptor); }
  void remove(const SignalDescriptor& descriptor) noexcept;

  /// While it lives the current coroutine waits, and `arrival` fires when a signal comes for it.
  class Waiting {
   public:
    Waiting(ForeignSignals& signals, SignalArrival& arrival);
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting();

   private:
    ForeignSignals& signals_;
    std::uint64_t thread_;
  };

  int set_action(int signal, const struct sigaction* action, struct sigaction* before) override;
  int change_mask(int how, const sigset_t* mask, sigset_t* before) override;
  sigset_t pending() override;
  int send(pid_t process, int signal, const sigval* value) override;
  int send_to_thread(pthread_t thread, int signal, const sigval* value) override;
  int take(const sigset_t& wanted, posix::Limit limit, siginfo_t* info) override;
  int wait_for_handler(const std::optional<sigset_t>& mask) override;
  int set_timer(const itimerval* setting, itimerval* before) override;
  int descriptor(int known, const sigset_t& wanted, int flags) override;
  [[nodiscard]] posix::Timers& timers() noexcept override { return timers_; }
  [[nodiscard]] pid_t process_id() const noexcept override;

 private:
  using Entry = PendingSignals::Entry;
  struct Thread {
    SignalSet mask = 0;
    PendingSignals pending;
    SignalSet taken = 0;               // Waited for by take().
    SignalArrival* arrival = nullptr;  // While it waits.
  };

  [[nodiscard]] static std::array<struct sigaction, NSIG> first_actions() noexcept;
  /// The state of the current coroutine.
  [[nodiscard]] Thread& mine();
  /// Whether it waits, and lets `signal` in.
  [[nodiscard]] static bool takes(const Thread& thread, int signal) noexcept;
  /// Tells the oldest one that waits and takes it.
  void tell_one(int signal);
  /// Sent to `thread`, or to the process when that is null.
  void post(const Entry& entry, Thread* thread);
  /// What is told of a signal that this process sends.
  [[nodiscard]] Entry entry_of(int signal, int code, const sigval* value = nullptr) const noexcept;
  [[nodiscard]] bool is_ignored(int signal) const noexcept;
  /// Whether it is dropped when it comes: what is kept out may be wanted later.
  [[nodiscard]] bool is_dropped(int signal, const Thread* thread) const noexcept;
  /// Runs the handlers of what has come, as the system does: the last one's first. Whether one has
  /// run.
  bool run_handlers(bool is_first);
  void end_process(const Entry& entry);
  /// Ends `call`, which may have let a signal in: others may run first.
  void end_call(const char* call);
  void run_handler(const struct sigaction& action, const siginfo_t& info);
  void ring();
  void set_alarm(Duration span);
  void drop_alarm() noexcept;

  SignalHost& host_;
  Machine& machine_;
  std::array<struct sigaction, NSIG> actions_ = first_actions();
  bool has_set_actions_ = false;  // They may differ from the first ones.
  std::map<std::uint64_t, Thread> threads_;  // By coroutine.
  PendingSignals pending_;                   // For the process.
  std::vector<SignalDescriptor*> descriptors_;
  ForeignTimers timers_;
  bool used_ = false;
  bool may_restart_ = false;
  Ref<Timer> alarm_;
  bool alarm_is_set_ = false;
  Subscription alarm_watch_;
  Instant alarm_at_;
  Duration alarm_interval_ = Duration::zero();
};

}  // namespace fermata::sim::detail
