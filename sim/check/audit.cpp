// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/check/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "fermata/runtime/base/error.hpp"
#include "fermata/runtime/core/runtime.hpp"
#include "fermata/sim/check/explain.hpp"

namespace fermata::sim::detail {

namespace {

/// Of a run with few objects, not every other step need be a recount.
constexpr std::size_t kLeastStepsBetweenRecounts = 32;

constexpr std::uint32_t kMostIdleRounds = 100'000;

constexpr std::uint32_t bit(Trace kind) noexcept { return 1u << static_cast<unsigned>(kind); }
constexpr std::uint32_t kNoteworthy = bit(Trace::EventFired) | bit(Trace::EventDestroyed) |
                                      bit(Trace::Started) | bit(Trace::Entered) | bit(Trace::Left) |
                                      bit(Trace::Finished);

const CoroutineBase& as_coroutine(const Event& event) noexcept {
  return static_cast<const CoroutineBase&>(event);
}

}  // namespace

void Audit::begin_run(Runtime& runtime, std::uint64_t identity, const AuditOptions& options) {
  runtime_ = &runtime;
  options_ = options;
  identity_ = identity;
  touched_begin_ = touched_end_ = 0;
  active_ = 0;
  queued_ = 0;
  steps_since_recount_ = 0;
  idle_rounds_ = 0;
  running_ = nullptr;
  busy_votes_ = 0;
  if (deadlock_.step != 0) deadlock_ = {};
  if (failed_coroutine_.step != 0) failed_coroutine_ = {};
}

void Audit::end_run() {
  if (record_.over) return;
  recount();
  std::string leaks = explain_leaks(*runtime_);
  if (leaks.empty()) return;
  Failure failure;
  failure.verdict = Verdict::Leak;
  failure.message = leaks.substr(0, leaks.find('\n'));
  failure.at = runtime_->now();
  failure.step = record_.steps;
  failure.explanation = std::move(leaks);
  record_.fail(std::move(failure));
}

// --- what happens ---

// Runs some fifteen times a step: the common kinds take the straight way through.
void Audit::trace(Trace kind, const Event* subject, std::uint64_t detail) {
  if (record_.over) [[unlikely]] {
    return;
  }
  record_.hash.add(identity_ + static_cast<std::uint64_t>(kind),
                   subject != nullptr ? subject->serial() : 0, detail);
  if (subject == nullptr) return note_of_all(kind, detail);
  Event::AuditMark& mark = subject->audit_mark();
  if (!mark.touched) {
    if (touched_end_ == touched_capacity_) [[unlikely]] {
      make_room();
    }
    mark.touched = true;
    touched_[touched_end_++] = subject;
  }
  if ((kNoteworthy >> static_cast<unsigned>(kind) & 1) != 0) note(kind, *subject);
}

void Audit::make_room() {
  auto larger = std::make_unique<const Event*[]>(2 * touched_capacity_);
  std::copy_n(touched_.get(), touched_end_, larger.get());
  touched_ = std::move(larger);
  touched_capacity_ *= 2;
}

void Audit::note(Trace kind, const Event& subject) {
  switch (kind) {
    case Trace::EventFired:
      return check_fire(subject);
    case Trace::EventDestroyed:
      return forget(subject);
    case Trace::Started:
    case Trace::Entered:
      return gains_control(subject);
    default:
      return loses_control(subject);
  }
}

void Audit::note_of_all(Trace kind, std::uint64_t detail) {
  if (kind == Trace::Polled && detail != 0) {
    if (!nothing_is_ready() || runtime_->active_event_count() == 0) {
      complain("CORE-SC-08", "the reactor may block while something can run, or nothing can come");
    }
  } else if (kind == Trace::DeadlockReported) {
    note_deadlock(detail);
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
  if (waiting != runtime_->registry().size()) {
    complain("CORE-SC-12", fmt::format("a deadlock of {} coroutines is reported, there are {}",
                                       waiting, runtime_->registry().size()));
  }
  if (deadlock_.step != 0) return;
  deadlock_ = present();
  deadlock_.explanation = explain_waits(*runtime_);
}

// Objects mostly go in the order of their creation, or against it: both ends are near.
void Audit::forget(const Event& event) noexcept {
  const Event::AuditMark& mark = event.audit_mark();
  if (mark.counted_active) --active_;
  if (mark.counted_queued) --queued_;
  std::size_t front = touched_begin_;
  std::size_t back = touched_end_ - 1;
  while (touched_[front] != &event && touched_[back] != &event) {
    ++front;
    --back;
  }
  touched_[touched_[back] == &event ? back : front] = nullptr;
  while (touched_begin_ < touched_end_ && touched_[touched_end_ - 1] == nullptr) --touched_end_;
  while (touched_begin_ < touched_end_ && touched_[touched_begin_] == nullptr) ++touched_begin_;
}

void Audit::gains_control(const Event& coroutine) {
  if (running_ != nullptr) {
    complain("CORE-SC-21",
             fmt::format("{} gains control while {} has it", coroutine.info(), running_->info()));
  }
  if (coroutine.closed()) {
    complain("CORE-CO-01", fmt::format("{} runs after its end", coroutine.info()));
  }
  running_ = &coroutine;
}

void Audit::loses_control(const Event& coroutine) {
  if (running_ == &coroutine) {
    running_ = nullptr;
  } else if (as_coroutine(coroutine).is_started()) {
    complain("CORE-SC-21", fmt::format("{} gives up control without having it", coroutine.info()));
  }
  const CoroutineBase& subject = as_coroutine(coroutine);
  if (subject.closed() && subject.error() && !is_cancellation(subject.error()) &&
      failed_coroutine_.step == 0) {
    failed_coroutine_ = present();
    failed_coroutine_.coroutine = subject.label();
  }
}

void Audit::check_fire(const Event& event) {
  switch (event.kind()) {
    case EventKind::Timer: {
      const auto& timer = static_cast<const Timer&>(event);
      const bool must_be_closed = timer.mode() == TimerMode::Once;
      if (must_be_closed != event.closed()) {
        complain("CORE-EV-06", fmt::format("{} fires while it is {}", event.info(),
                                           must_be_closed ? "open" : "closed"));
      }
      if (timer.mode() == TimerMode::Periodic && event.loop_ref_count() == 0) {
        complain("CORE-EV-16", fmt::format("{} fires after it was stopped", event.info()));
      }
      return;
    }
    case EventKind::Request:
    case EventKind::Task:
      if (!event.closed()) {
        complain("CORE-EV-06", fmt::format("{} fires while it is open", event.info()));
      }
      return;
    default:
      return;
  }
}

// --- steps ---

void Audit::end_step(Runtime& runtime) {
  if (record_.over) throw AbandonRun{};
  if (touched_begin_ == touched_end_) return note_idle_round();
  idle_rounds_ = 0;
  ++record_.steps;
  if (options_.record_steps) record_.step_hashes.push_back(record_.hash.value());
  find_busy(runtime.current());
  const std::size_t pause = runtime.kernel().live_events.size() + kLeastStepsBetweenRecounts;
  if (options_.full || ++steps_since_recount_ > pause) {
    recount();
  } else {
    check_touched();
  }
  if (record_.steps > options_.step_limit) report_livelock();
  if (record_.over) throw AbandonRun{};
}

// The scheduler's loop went round and nothing happened.
void Audit::note_idle_round() {
  if (++idle_rounds_ <= kMostIdleRounds) return;
  const Moment moment = present();
  record_.fail(Failure{Verdict::Liveness,
                       "livelock: the scheduler goes round without a step",
                       {},
                       moment.at,
                       moment.step,
                       runtime_->dump()});
  throw AbandonRun{};
}

void Audit::report_livelock() {
  Moment moment = present();
  for (const CoroutineBase* each = runtime_->registry().first(); each != nullptr;
       each = each->next_registered()) {
    if (each->id() == busy_) moment.coroutine = each->label();
  }
  record_.fail(Failure{Verdict::Liveness,
                       fmt::format("livelock: more than {} steps without an end, most of late by "
                                   "'{}'",
                                   options_.step_limit, moment.coroutine),
                       moment.coroutine, moment.at, moment.step, runtime_->dump()});
}

// The majority vote of Boyer and Moore.
void Audit::find_busy(const CoroutineBase* current) {
  const std::uint64_t id = current != nullptr ? current->id() : 0;
  if (busy_votes_ == 0) busy_ = id;
  busy_votes_ = busy_ == id ? busy_votes_ + 1 : busy_votes_ - 1;
}

// --- results ---

Audit::Moment Audit::present() const {
  const CoroutineBase* current = runtime_->current();
  return Moment{current != nullptr ? current->label() : std::string(),
                runtime_->now(),
                record_.steps + 1,
                {}};
}

void Audit::complain(std::string_view invariant, const std::string& what) {
  Moment moment = present();
  record_.fail(Failure{Verdict::Safety,
                       fmt::format("{}: {}", invariant, what),
                       std::move(moment.coroutine),
                       moment.at,
                       moment.step,
                       {}});
}

}  // namespace fermata::sim::detail
