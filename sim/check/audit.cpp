// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/check/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <typeinfo>
#include <utility>

#include "fermata/runtime/base/error.hpp"
#include "fermata/runtime/core/runtime.hpp"
#include "fermata/sim/check/explain.hpp"

namespace fermata::sim::detail {

namespace {

/// Events with more subscribers are looked at when everything is recounted.
constexpr std::uint32_t kFewSubscribers = 4;

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

bool says_queued(const CoroutineBase& coroutine) noexcept {
  return coroutine.waker().status == WakerStatus::Queued ||
         coroutine.waker().status == WakerStatus::Ignored;
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
  running_ = nullptr;
  busy_votes_ = 0;
  if (deadlock_.step != 0) deadlock_ = {};
  if (failed_coroutine_.step != 0) failed_coroutine_ = {};
}

bool Audit::end_run() {
  if (record_.over) return false;
  recount();
  if (record_.over) return false;
  std::string leaks = explain_leaks(*runtime_);
  if (leaks.empty()) return true;
  Failure failure;
  failure.verdict = Verdict::Leak;
  failure.message = leaks.substr(0, leaks.find('\n'));
  failure.at = runtime_->now();
  failure.step = record_.steps;
  failure.explanation = std::move(leaks);
  record_.fail(std::move(failure));
  return false;
}

// --- what happens ---

// Runs some fifteen times a step: the common kinds take the straight way through.
void Audit::trace(Trace kind, const Event* subject, std::uint64_t detail) {
  if (record_.over) [[unlikely]] {
    return;
  }
  record_.hash.add(identity_ + static_cast<std::uint64_t>(kind),
                   subject != nullptr ? subject->serial() : 0, detail);
  if (subject == nullptr) {
    if (kind == Trace::DeadlockReported) [[unlikely]] {
      note_deadlock();
    }
    return;
  }
  Event::AuditMark& mark = subject->audit_mark();
  if (!mark.touched) {
    mark.touched = true;
    if (touched_end_ == touched_.size()) [[unlikely]] {
      touched_.resize(2 * touched_end_);
    }
    touched_[touched_end_++] = subject;
  }
  if ((kNoteworthy >> static_cast<unsigned>(kind) & 1) != 0) note(kind, *subject);
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

void Audit::note_deadlock() {
  recount();
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

void Audit::check_touched() {
  const std::size_t begin = std::exchange(touched_begin_, 0);
  const std::size_t end = std::exchange(touched_end_, 0);
  for (std::size_t i = begin; i < end; ++i) {
    const Event* const event = touched_[i];
    if (event == nullptr) continue;
    check(*event);
    const std::uint32_t subscribers = event->callbacks().size();
    if (subscribers != 0 && subscribers <= kFewSubscribers) check_subscribers(*event);
  }
  check_counters();
}

void Audit::recount() {
  steps_since_recount_ = 0;
  touched_begin_ = touched_end_ = 0;
  for (const Event* event = runtime_->kernel().live_events.first(); event != nullptr;
       event = event->next_live()) {
    check(*event);
    check_subscribers(*event);
  }
  check_counters();
  check_ready_queue();
  check_registry();
}

void Audit::check(const Event& event) {
  Event::AuditMark& mark = event.audit_mark();
  mark.touched = false;
  const bool active = event.counts_as_active();
  active_ += static_cast<std::size_t>(active) - static_cast<std::size_t>(mark.counted_active);
  mark.counted_active = active;
  if (event.closed()) {
    if (event.loop_ref_count() > 0) {
      complain("CORE-EV-05", fmt::format("{} is closed and has {} loop references", event.info(),
                                         event.loop_ref_count()));
    }
  } else if (mark.was_closed) {
    complain("CORE-EV-05", fmt::format("{} was closed and is open again", event.info()));
  }
  mark.was_closed = event.closed();
  if (event.kind() != EventKind::Coroutine) return;
  const CoroutineBase& coroutine = as_coroutine(event);
  const bool queued = says_queued(coroutine);
  queued_ += static_cast<std::size_t>(queued) - static_cast<std::size_t>(mark.counted_queued);
  mark.counted_queued = queued;
  check_coroutine(coroutine);
}

void Audit::check_coroutine(const CoroutineBase& coroutine) {
  const Waker& waker = coroutine.waker();
  if (waker.status == WakerStatus::Waiting) return check_waiting(coroutine);
  if (!waker.empty()) {
    complain("CORE-WK-03", fmt::format("{} is {} and still has registrations", coroutine.info(),
                                       to_string(waker.status)));
  }
  if (waker.status == WakerStatus::None && (waker.result != nullptr || waker.error)) {
    complain("CORE-WK-09",
             fmt::format("{} has left its wait and still holds its answer", coroutine.info()));
  }
  if (coroutine.closed() && waker.status != WakerStatus::None) {
    complain("CORE-CO-02", fmt::format("{} is {}", coroutine.info(), to_string(waker.status)));
  }
}

void Audit::check_waiting(const CoroutineBase& coroutine) {
  if (coroutine.waker().empty()) {
    complain("CORE-GL-01", fmt::format("{} waits for nothing: it is lost", coroutine.info()));
  }
  for (const Registration* each = coroutine.waker().first(); each != nullptr; each = each->next()) {
    const Event& source = each->source();
    if (each->event() != &source) {
      complain("CORE-WK-03", fmt::format("{} waits for {} and is not subscribed to it",
                                         coroutine.info(), source.info()));
    } else if (each->ref_count() != 2) {
      complain("CORE-CB-06", fmt::format("the registration of {} at {} has {} references, not 2",
                                         coroutine.info(), source.info(), each->ref_count()));
    }
    const bool has_backend = source.kind() > EventKind::Coroutine && !source.closed();
    if (has_backend && each->started() && source.loop_ref_count() == 0) {
      complain("CORE-EV-02", fmt::format("{} has started {}, which has no loop reference",
                                         coroutine.info(), source.info()));
    }
  }
}

void Audit::check_subscribers(const Event& event) {
  event.callbacks().for_each([&](const Callback& callback) {
    if (callback.event() != &event) {
      complain("CORE-CB-04", fmt::format("a subscriber of {} does not know of it", event.info()));
    }
    if (typeid(callback) != typeid(Registration)) return;
    const auto& registration = static_cast<const Registration&>(callback);
    const CoroutineBase& waiter = registration.coroutine();
    const bool waits = waiter.waker().status == WakerStatus::Waiting;
    if (!waits || &registration.source() != &event) {
      complain("CORE-GL-02", fmt::format("{} is subscribed to {} and does not wait for it",
                                         waiter.info(), event.info()));
    }
  });
}

void Audit::check_counters() {
  const std::size_t active = runtime_->active_event_count();
  if (active != active_) {
    complain("CORE-EV-01",
             fmt::format("the count of active events is {}, active are {}", active, active_));
  }
  const std::size_t ready = runtime_->scheduler().ready().size();
  if (ready != queued_) {
    complain("CORE-WK-02",
             fmt::format("{} coroutines are in the ready queue, {} say so", ready, queued_));
  }
}

void Audit::check_ready_queue() {
  const fermata::detail::ReadyQueue& ready = runtime_->scheduler().ready();
  scratch_.clear();
  for (std::size_t i = 0; i < ready.size(); ++i) {
    if (!says_queued(ready[i])) {
      complain("CORE-WK-02", fmt::format("{} is in the ready queue and is {}", ready[i].info(),
                                         to_string(ready[i].waker().status)));
    }
    scratch_.push_back(ready[i].id());
  }
  std::sort(scratch_.begin(), scratch_.end());
  const auto twice = std::adjacent_find(scratch_.begin(), scratch_.end());
  if (twice != scratch_.end()) {
    complain("CORE-WK-02", fmt::format("coroutine {} is in the ready queue twice", *twice));
  }
}

void Audit::check_registry() {
  std::size_t members = 0;
  std::size_t zombies = 0;
  for (const CoroutineBase* each = runtime_->registry().first(); each != nullptr;
       each = each->next_registered()) {
    ++members;
    if (each->is_zombie()) ++zombies;
    if (each->closed()) {
      complain("CORE-CO-01", fmt::format("{} is still registered", each->info()));
    }
  }
  const std::size_t active = runtime_->scheduler().active_coroutine_count();
  if (active != members - zombies) {
    complain("CORE-CO-12", fmt::format("the count of active coroutines is {}: of {} registered {} "
                                       "are zombies",
                                       active, members, zombies));
  }
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
