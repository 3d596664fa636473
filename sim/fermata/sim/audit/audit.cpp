// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/audit/audit.hpp"

#include <fmt/format.h>

#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/base/inlining.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/sim/audit/debugger_stops.hpp"
#include "fermata/sim/record/run_log.hpp"
#include "fermata/sim/record/step_probe.hpp"
#include "fermata/sim/record/wake_listener.hpp"
#include "fermata/sim/waits/subject.hpp"

namespace fermata::sim::detail {

namespace {

using Mark = Event::AuditMark;

constexpr backend::TraceKinds kNoted(backend::Trace::EventFired, backend::Trace::EventDestroyed,
                                     backend::Trace::Started, backend::Trace::Entered,
                                     backend::Trace::Left, backend::Trace::Finished,
                                     backend::Trace::Polled, backend::Trace::TimeAdvanced,
                                     backend::Trace::DeadlockReported,
                                     backend::Trace::ShutdownStarted);
/// What kNoted has, and what a run log and the history of waits are made of.
constexpr backend::TraceKinds kTold(backend::Trace::EventFired, backend::Trace::EventDestroyed,
                                    backend::Trace::Started, backend::Trace::Entered,
                                    backend::Trace::Left, backend::Trace::Finished,
                                    backend::Trace::Polled, backend::Trace::TimeAdvanced,
                                    backend::Trace::DeadlockReported,
                                    backend::Trace::ShutdownStarted, backend::Trace::EventStopped,
                                    backend::Trace::EventClosed, backend::Trace::Enqueued,
                                    backend::Trace::Cancelled);

/// What a run log records of a coroutine.
constexpr backend::TraceKinds kInRunLog(backend::Trace::Started, backend::Trace::Entered,
                                        backend::Trace::Left, backend::Trace::Finished,
                                        backend::Trace::Enqueued, backend::Trace::Cancelled);

}  // namespace

Audit::Audit(RunState& record, const Instant& clock) noexcept
    : backend::Observer(kNoted, &record.hash), record_(record), clock_(clock), teller_(record) {}

void Audit::begin_run(Runtime& runtime, const AuditOptions& options) {
  runtime_ = &runtime;
  options_ = options;
  watched_ = options.run_log != nullptr || options.log_waits || options.probe != nullptr ||
             options.wakes != nullptr || stops_wanted();
  if (options.probe != nullptr) {
    note_only(backend::TraceKinds::all());
  } else {
    note_only(watched_ ? kTold : kNoted);
  }
  look_after_ = stops_wanted() ? 0 : options.limits.steps;
  counted_ = {};
  steps_since_recount_ = 0;
  idle_rounds_ = 0;
  running_ = nullptr;
  ran_since_poll_ = false;
  busy_votes_ = 0;
  at_instant_ = 0;
  FERMATA_ASSERT(!interrupter_.armed());
  runtime.kernel().wait_log = options.log_waits ? &history_ : nullptr;
  if (options.log_waits) history_.begin(runtime, record_.steps, options.run_log);
  telling_ = record_.told_of_steps != nullptr ? &teller_ : nullptr;
  if (telling_ != nullptr) telling_->begin_run(runtime);
  FERMATA_ASSERT(!options.sampled || !options.full);
  sampled_ = options.sampled && !watched_ && telling_ == nullptr;
  trace_log().forget_all();
  trace_log().mark_touched(!sampled_);
  runtime.kernel().uses = record_.wants_uses ? &trace_log() : nullptr;
  if (failed_coroutine_.step != 0) failed_coroutine_ = {};
}

void Audit::end_run() {
  if (record_.over()) return;
  recount();
  std::string leaks = explain_leaks(*runtime_);
  if (leaks.empty()) return;
  Failure failure;
  failure.verdict = Verdict::Leak;
  failure.message = leaks.substr(0, leaks.find('\n'));
  failure.at = runtime_->now();
  failure.step = record_.begun;
  failure.explanation = std::move(leaks);
  record_.fail(std::move(failure));
}

// --- what happens ---

FERMATA_HOT void Audit::note_quietly(backend::Trace kind, const Event* subject,
                                     std::uint64_t detail) {
  switch (kind) {
    case backend::Trace::EventFired:
      return check_fire(*subject);
    case backend::Trace::EventDestroyed:
      return forget(*subject);
    case backend::Trace::Started:
    case backend::Trace::Entered:
      return gains_control(*subject);
    case backend::Trace::Left:
      return loses_control(*subject);
    case backend::Trace::Finished:
      loses_control(*subject);
      return note_end(as_coroutine(*subject));
    case backend::Trace::Polled:
      armed_before_poll_ = runtime_->timers().next_sequence();
      ran_since_poll_ = false;
      if (detail != 0) check_poll();
      return;
    case backend::Trace::TimeAdvanced:
      at_instant_ = 0;
      return;
    case backend::Trace::DeadlockReported:
      return note_deadlock(detail);
    case backend::Trace::ShutdownStarted:  // What it cancels may have been stuck; an error says
                                           // more.
      return failed_coroutine_.step == 0 ? look_for_stuck() : void();
    default:
      return;
  }
}

void Audit::note(backend::Trace kind, const Event* subject, std::uint64_t detail) {
  if (watched_) [[unlikely]] {
    return note_watched(kind, subject, detail);
  }
  note_quietly(kind, subject, detail);
}

FERMATA_COLD void Audit::note_watched(backend::Trace kind, const Event* subject,
                                      std::uint64_t detail) {
  note_in_words(kind, subject, detail);
  if (kNoted.has(kind)) note_quietly(kind, subject, detail);
}

void Audit::note_in_words(backend::Trace kind, const Event* subject, std::uint64_t detail) {
  if (options_.probe != nullptr) {
    options_.probe->note(runtime_->options().name, kind, subject, detail, runtime_->now(),
                         record_.steps + 1);
  }
  if (subject != nullptr && kTold.has(kind)) tell(kind, *subject, detail);
  const bool looks_outside = kind == backend::Trace::Polled && options_.run_log != nullptr;
  if (looks_outside) options_.run_log->step_over(runtime_->options().name);
  const bool gains_control = kind == backend::Trace::Started || kind == backend::Trace::Entered;
  if (gains_control && stops_wanted()) stop_in_step(record_.steps + 1);
}

void Audit::tell(backend::Trace kind, const Event& subject, std::uint64_t detail) {
  if (options_.log_waits) history_.note(kind, subject, detail);
  if (options_.wakes != nullptr && kind == backend::Trace::Enqueued) {
    options_.wakes->woken(running_ != nullptr ? as_coroutine(*running_).path() : 0,
                          as_coroutine(subject).path(), static_cast<backend::WakeCause>(detail));
  }
  if (options_.run_log == nullptr || !kInRunLog.has(kind)) return;
  options_.run_log->note(runtime_->options().name, kind, as_coroutine(subject), detail, clock_,
                         runtime_->now(), record_.steps + 1);
}

void Audit::check_poll() {
  if (!nothing_is_ready() || runtime_->active_event_count() == 0) {
    complain("CORE-SC-08", "the reactor may block while something can run, or nothing can come");
  }
}

bool Audit::nothing_is_ready() const noexcept {
  const fermata::detail::Scheduler& scheduler = runtime_->scheduler();
  return scheduler.ready().empty() && scheduler.microtasks().empty();
}

void Audit::note_deadlock(std::uint64_t waiting) {
  recount();
  if (!nothing_is_ready() || runtime_->active_event_count() != 0) {
    complain("CORE-SC-10", "a deadlock is reported while something can run or come");
  }
  // What a callback has armed in the last turn, for no time at all, waits for the next one.
  const bool waits_for_next =
      !ran_since_poll_ && runtime_->timers().next_sequence() != armed_before_poll_;
  if (!waits_for_next && runtime_->timers().earliest() <= runtime_->now()) {
    complain("CORE-SC-10", "a deadlock is reported though a timer is due");
  }
  if (waiting != runtime_->registry().size()) {
    complain("CORE-SC-12", fmt::format("a deadlock of {} coroutines is reported, there are {}",
                                       waiting, runtime_->registry().size()));
  }
  if (options_.allow_deadlock) return;
  report_waits(fmt::format("fermata::DeadlockError: Deadlock detected: no active coroutines, {} "
                           "coroutines in waiting",
                           waiting),
               Ending::Quiet);
}

void Audit::look_for_stuck() {
  if (options_.allow_deadlock || interrupter_.armed()) return;
  const auto& stuck = stuck_.search(*runtime_);
  if (stuck.empty()) return;
  report_waits(fmt::format("partial deadlock: {} can never go on", labels_of(stuck)),
               Ending::Going);
}

void Audit::forget(const Event& event) noexcept {
  const Mark mark = event.audit_mark();
  if (mark.has(Mark::kCountedActive)) --counted_.active;
  if (mark.has(Mark::kCountedQueued)) --counted_.queued;
  if (sampled_ || mark.has(Mark::kTouched)) trace_log().forget(event);
  if (telling_ != nullptr) [[unlikely]] {
    telling_->destroyed(event);
  }
}

void Audit::gains_control(const Event& coroutine) {
  if (running_ != nullptr || coroutine.is_closed()) [[unlikely]] {
    complain_about_gain(coroutine);
  }
  if (as_coroutine(coroutine).waker().first() != nullptr) [[unlikely]] {
    complain_about_wait(as_coroutine(coroutine));
  }
  running_ = &coroutine;
  ran_since_poll_ = true;
  record_.begun = record_.steps + 1;
  if (telling_ != nullptr) [[unlikely]] {
    telling_->runs(as_coroutine(coroutine).path());
  }
}

void Audit::complain_about_gain(const Event& coroutine) {
  if (running_ != nullptr) {
    complain("CORE-SC-21",
             fmt::format("{} gains control while {} has it", coroutine.info(), running_->info()));
  } else {
    complain("CORE-CO-01", fmt::format("{} runs after its end", coroutine.info()));
  }
}

// An answer drops the registrations. In a forced end a destructor is answered with nothing.
void Audit::complain_about_wait(const CoroutineBase& coroutine) {
  if (runtime_->scheduler().ends_by_force()) return;
  complain(
      "CORE-WK-03",
      fmt::format("{} comes back from a wait with neither a grant nor an error: it waits for {}",
                  coroutine.info(), fmt::join(coroutine.awaiting(), "; ")));
}

// One that ends before it has started never had control.
void Audit::loses_control(const Event& coroutine) {
  if (running_ == &coroutine) {
    running_ = nullptr;
  } else if (as_coroutine(coroutine).is_started()) [[unlikely]] {
    complain("CORE-SC-21", fmt::format("{} gives up control without having it", coroutine.info()));
  }
}

void Audit::note_end(const CoroutineBase& coroutine) {
  if (fermata::detail::Scheduler::unwound(coroutine) && !runtime_->scheduler().ends_by_force())
      [[unlikely]] {
    complain("CORE-GL-09", fmt::format("{} is unwound by force although the run is not ending",
                                       coroutine.info()));
  }
  if (coroutine.error() && !is_cancellation(coroutine.error()) && failed_coroutine_.step == 0) {
    failed_coroutine_ = present();
    failed_coroutine_.coroutine = coroutine.label();
  }
}

void Audit::check_fire(const Event& event) {
  switch (event.kind()) {
    case backend::EventKind::Timer: {
      const auto& timer = static_cast<const Timer&>(event);
      const bool must_be_closed = timer.mode() == TimerMode::Once;
      if (must_be_closed != event.is_closed()) {
        complain("CORE-EV-06", fmt::format("{} fires while it is {}", event.info(),
                                           must_be_closed ? "open" : "closed"));
      }
      if (timer.mode() == TimerMode::Periodic && event.loop_ref_count() == 0) {
        complain("CORE-EV-16", fmt::format("{} fires after it was stopped", event.info()));
      }
      return note_timer(event);
    }
    case backend::EventKind::Request:
    case backend::EventKind::Task:
    case backend::EventKind::Thread:
    case backend::EventKind::Process:
      if (!event.is_closed()) {
        complain("CORE-EV-06", fmt::format("{} fires while it is open", event.info()));
      }
      return;
    default:
      return;
  }
}

// --- livelocks ---

void Audit::report_idleness() {
  Moment moment = present();
  moment.coroutine.clear();
  report_limit("livelock: the scheduler goes round without a step", std::move(moment));
  leave_run();
}

std::string Audit::busy_coroutine() const {
  for (const CoroutineBase* each = runtime_->registry().first(); each != nullptr;
       each = each->next_registered()) {
    if (each->id() == busy_) return each->label();
  }
  return present().coroutine;
}

// Between two steps; in one it is the coroutine that is busy.
void Audit::note_timer(const Event& timer) {
  if (running_ != nullptr || ++at_instant_ <= options_.limits.steps_at_instant) return;
  report_standstill(&timer);
  leave_run();
}

void Audit::leave_run() const {
  FERMATA_ASSERT(record_.over());
  if (options_.steps != nullptr) options_.steps->leave_run();
  throw backend::AbandonRun{};
}

void Audit::report_standstill(const Event* timer) {
  Moment moment = present();
  if (timer == nullptr) moment.coroutine = busy_coroutine();
  const std::string busy = timer == nullptr ? "'" + moment.coroutine + "'" : timer->info();
  std::string timers;
  for (const Event* event = runtime_->kernel().live_events.first(); event != nullptr;
       event = event->next_live()) {
    const bool armed = event->kind() == backend::EventKind::Timer && event->loop_ref_count() > 0;
    if (armed) timers += event->info() + "\n";
  }
  report_limit(
      fmt::format("livelock: more than {} steps and timers on '{}' without a wait for time to "
                  "pass, most of late by {}",
                  options_.limits.steps_at_instant, runtime_->options().name, busy),
      std::move(moment), timers);
}

void Audit::stop_or_report_livelock() {
  if (stops_wanted()) stop_between_steps(record_.steps);
  if (record_.steps > options_.limits.steps) report_livelock();
}

void Audit::report_livelock() {
  Moment moment = present();
  moment.coroutine = busy_coroutine();
  std::string message =
      fmt::format("livelock: more than {} steps without an end, most of late by '{}'",
                  options_.limits.steps, moment.coroutine);
  report_limit(std::move(message), std::move(moment));
}

// --- results ---

Audit::Moment Audit::present() const {
  const CoroutineBase* current = runtime_->current();
  return Moment{current != nullptr ? current->label() : std::string(), runtime_->now(),
                record_.begun};
}

void Audit::report_waits(std::string message, Ending ending) {
  const WaitSource source = wait_source();
  Explanation waits = explain_waits({&source, 1}, ending, record_.steps);
  Failure failure;
  failure.verdict = Verdict::Deadlock;
  failure.message = std::move(message);
  failure.explanation = std::move(waits.text);
  failure.wait_graph = std::move(waits.json);
  report(std::move(failure), present());
}

void Audit::report_limit(std::string message, Moment moment, const std::string& more) {
  const WaitSource source = wait_source();
  Explanation waits = explain_waits({&source, 1}, Ending::Endless, record_.steps);
  waits.text += runtime_->dump() + more;
  if (options_.allow_deadlock) waits.hopeless.clear();
  report(limit_failure(std::move(message), std::move(waits)), std::move(moment));
}

void Audit::report(Failure failure, Moment moment) {
  failure.coroutine = std::move(moment.coroutine);
  failure.at = moment.at;
  failure.step = moment.step;
  record_.fail(std::move(failure));
}

void Audit::complain(std::string_view invariant, const std::string& what) {
  Moment moment = present();
  record_.fail(Failure{.verdict = Verdict::Safety,
                       .message = fmt::format("{}: {}", invariant, what),
                       .coroutine = std::move(moment.coroutine),
                       .at = moment.at,
                       .step = moment.step});
}

}  // namespace fermata::sim::detail
