// SPDX-License-Identifier: Apache-2.0
#pragma once

// Watches one runtime: hashes what happens, counts steps, and recounts after each step what the
// step touched, from the objects themselves. What does not agree is a failure that names the
// invariant (CORE-EV to CORE-GL).
//
// Cost   A few nanoseconds for each trace. Everything is recounted whenever as many steps have
//        passed as there are live objects, so that a step costs O(1) on average; and at every
//        deadlock and at the end.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fermata/base/time.hpp"
#include "fermata/core/coroutine.hpp"
#include "fermata/core/observer.hpp"
#include "fermata/sim/audit/interrupter.hpp"
#include "fermata/sim/audit/step_teller.hpp"
#include "fermata/sim/base/run_limits.hpp"
#include "fermata/sim/record/run_state.hpp"
#include "fermata/sim/waits/bounded_wait_log.hpp"
#include "fermata/sim/waits/explain.hpp"
#include "fermata/sim/waits/stuck.hpp"

namespace fermata::sim {
class RunLog;
class StepProbe;
class WakeListener;
}  // namespace fermata::sim

namespace fermata::sim::detail {

/// Is told when a step of a coroutine has ended, before the next one begins.
class StepListener {
 public:
  /// May let time pass and other programs run; may throw AbandonRun.
  virtual void step_ended() = 0;
  /// The program has come to what some run has to come to; `message` says what that is.
  virtual void marked(const char* message) = 0;
  /// The run is over. Lets those that the program has begun end first, and throws AbandonRun.
  [[noreturn]] virtual void leave_run() = 0;

 protected:
  ~StepListener() = default;
};

struct AuditOptions {
  RunLimits limits;               // That of time is the world's to watch.
  bool full = false;              // Recount everything after each step.
  bool sampled = false;           // Look at few steps, unless somebody else looks at each.
  bool record_steps = false;      // Keep the hash after each step.
  bool allow_deadlock = false;    // Somebody else judges deadlocks; the run goes on after one.
  RunLog* run_log = nullptr;      // Is told what happens.
  bool log_waits = false;         // Keep a log of what is done to primitives.
  StepProbe* probe = nullptr;     // And in one step each detail.
  WakeListener* wakes = nullptr;  // And who wakes whom.
  StepListener* steps = nullptr;  // Told of each end of a step, when all is counted.
};

class Audit final : public backend::Observer {
 public:
  /// `clock` is the time of the machine that it watches, without what its clock shows wrong.
  Audit(RunState& record, const Instant& clock) noexcept;

  void begin_run(Runtime& runtime, const AuditOptions& options);

  /// Looks for what has outlived a run that ended without a failure.
  void end_run();

  /// For a sweep of interruptions over a program; not armed otherwise.
  [[nodiscard]] Interrupter& interrupter() noexcept { return interrupter_; }

  /// The present step uses what the program calls by a name with this key.
  void announced(std::uint64_t key, bool written) {
    if (telling_ != nullptr) telling_->announced(key, written);
  }

  /// Throws AbandonRun once the run has failed.
  void end_step(Runtime& runtime) override;

  void broken(std::string_view invariant, const std::string& what) override {
    complain(invariant, what);
  }
  [[nodiscard]] std::string why() const override { return record_.why(); }

  void reached(const backend::AssertionSite& site, bool holds, std::int64_t slack) override;
  bool violated(const backend::AssertionSite& site, const std::string& details) override;
  void pledged(fermata::detail::Pledge& pledge) override;
  void end_of_pledge(fermata::detail::Pledge& pledge, bool by_exception) noexcept override;

  /// The input for a picture of all waits.
  [[nodiscard]] WaitSource wait_source() const noexcept {
    return {runtime_, options_.log_waits ? &history_ : nullptr, false};
  }
  /// Something that the end of the run will be about, as it was when it happened.
  struct Moment {
    std::string coroutine;
    Instant at;
    std::uint64_t step = 0;
  };
  /// When the first coroutine ended with an error.
  [[nodiscard]] const Moment& decisive_moment() const noexcept { return failed_coroutine_; }
  [[nodiscard]] Moment present() const;

 private:
  struct Tally {
    std::size_t active = 0;  // Events that count as activity.
    std::size_t queued = 0;  // Coroutines whose status says that they can run.

    friend bool operator==(const Tally&, const Tally&) = default;
  };

  void note(backend::Trace kind, const Event* subject, std::uint64_t detail) override;
  /// note() for a run that somebody else watches, too.
  void note_watched(backend::Trace kind, const Event* subject, std::uint64_t detail);
  void note_quietly(backend::Trace kind, const Event* subject, std::uint64_t detail);
  void note_in_words(backend::Trace kind, const Event* subject, std::uint64_t detail);
  void tell(backend::Trace kind, const Event& subject, std::uint64_t detail);
  void note_deadlock(std::uint64_t waiting);
  void check_poll();
  [[nodiscard]] bool nothing_is_ready() const noexcept;
  void forget(const Event& event) noexcept;
  void gains_control(const Event& coroutine);
  void loses_control(const Event& coroutine);
  void note_end(const CoroutineBase& coroutine);
  void check_fire(const Event& event);
  void look_for_stuck();
  /// With a picture of all waits.
  void report_waits(std::string message, Ending ending);
  /// Reports that a limit stops the run, with `more` lines at the end of its explanation.
  void report_limit(std::string message, Moment moment, const std::string& more = {});
  void report(Failure failure, Moment moment);

  void check_touched();
  /// What happens now that a recount is due, as it is whenever as many steps have passed as there
  /// are objects.
  void meet_recount();
  void recount();
  void check(const Event& event, Tally& tally);
  void check_subscribers(const Event& event);
  /// The values of the runtime's own counters.
  [[nodiscard]] Tally count_kept() const noexcept;
  void check_counters();
  void check_ready_queue();
  void check_timers();
  void check_lines(const Event& event);
  void check_registry();
  void check_scopes();
  void find_busy(const CoroutineBase* current) noexcept;
  [[nodiscard]] std::string busy_coroutine() const;
  void stop_or_report_livelock();
  void report_livelock();
  void note_timer(const Event& timer);
  void report_standstill(const Event* timer);
  void note_idle_round();
  [[noreturn]] void report_idleness();
  [[noreturn]] void leave_run() const;
  void check_pledges();
  bool is_kept(fermata::detail::Pledge& pledge);
  void report_broken(fermata::detail::Pledge& pledge);

  // Cold: these find out what is wrong and say so.
  void complain_about_counters();
  void complain_about_gain(const Event& coroutine);
  void complain_about_wait(const CoroutineBase& coroutine);
  void complain_about(const Event& event);
  void complain_about_coroutine(const CoroutineBase& coroutine);
  void complain_about_registration(const backend::Registration& registration);
  void complain_about_subscribers(const Event& event);
  void complain_about_scope(const ScopeBase& scope, const char* what, std::size_t kept,
                            std::size_t counted);
  void complain(std::string_view invariant, const std::string& what);

  RunState& record_;
  const Instant& clock_;
  Runtime* runtime_ = nullptr;
  AuditOptions options_;
  Tally counted_;
  std::size_t steps_since_recount_ = 0;
  bool sampled_ = false;
  std::uint32_t idle_rounds_ = 0;

  bool watched_ = false;            // Somebody is told more than the audit itself needs.
  const Event* running_ = nullptr;  // The coroutine in control.
  StepTeller* telling_ = nullptr;   // Null unless somebody wants to know of steps.
  std::uint64_t busy_ = 0;          // Id of whoever had most of the steps of late, if anybody has.
  std::uint64_t busy_votes_ = 0;
  std::uint64_t look_after_ = 0;         // After more steps than this it stops, or is a livelock.
  std::uint64_t at_instant_ = 0;         // Steps and timers since time has passed.
  std::uint64_t armed_before_poll_ = 0;  // Number of the first timer that the last look left out.
  bool ran_since_poll_ = false;          // A coroutine has.
  Interrupter interrupter_;
  StuckSearch stuck_;
  BoundedWaitLog history_;
  Moment failed_coroutine_;
  StepTeller teller_;
};

}  // namespace fermata::sim::detail
