// SPDX-License-Identifier: Apache-2.0

// What the audit looks at, and what it says when something does not agree. The checks are lean; who
// fails one is looked at again, at leisure, for words.

#include <fmt/format.h>

#include "fermata/base/inlining.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/sim/audit/audit.hpp"
#include "fermata/sim/waits/subject.hpp"

namespace fermata::sim::detail {

namespace {

/// The minimum distance between recounts: in a run with few objects, not every other step need be a
/// recount.
constexpr std::size_t kLeastStepsBetweenRecounts = 32;

/// One in so many of the recounts that are due is made in a run that is audited by samples.
constexpr std::uint64_t kRecountsForOneSample = 8;

using Mark = Event::AuditMark;

constexpr std::uint32_t kMostIdleRounds = 100'000;

/// Events with more subscribers are looked at when everything is recounted.
constexpr std::uint32_t kFewSubscribers = 4;

constexpr std::size_t count_of(bool is) noexcept { return is ? 1 : 0; }

bool says_queued(const CoroutineBase& coroutine) noexcept {
  return coroutine.waker().status == backend::WakerStatus::Queued ||
         coroutine.waker().status == backend::WakerStatus::Ignored;
}

/// Subscribed to what it waits for, started where that means something.
bool is_sound(const backend::Registration& registration) noexcept {
  const Event& source = registration.source();
  if (registration.event() != &source || registration.ref_count() != 2) return false;
  const bool needs_backend =
      registration.is_started() && source.is_startable() && !source.is_closed();
  return !needs_backend || source.loop_ref_count() > 0;
}

[[gnu::always_inline]] inline bool is_sound(const CoroutineBase& coroutine) noexcept {
  const backend::Waker& waker = coroutine.waker();
  const backend::Registration* each = waker.first();
  if (waker.status == backend::WakerStatus::Waiting) {
    if (each == nullptr) return false;
    for (; each != nullptr; each = each->next()) {
      if (!is_sound(*each)) return false;
    }
    return true;
  }
  if (each != nullptr) return false;
  if (waker.status != backend::WakerStatus::None) return !coroutine.is_closed();
  return waker.result == nullptr && !waker.error;
}

bool is_waited_for(const Event& event, const backend::Registration& registration) noexcept {
  return registration.coroutine().waker().status == backend::WakerStatus::Waiting &&
         &registration.source() == &event;
}

bool is_sound(const Event& event, const backend::Callback& subscriber) noexcept {
  return subscriber.event() == &event &&
         (!subscriber.is_registration() ||
          is_waited_for(event, static_cast<const backend::Registration&>(subscriber)));
}

}  // namespace

Audit::Tally Audit::count_kept() const noexcept {
  return {runtime_->active_event_count(), runtime_->scheduler().ready().size()};
}

// The straight way through what a step touched: see the complaints for what each condition means.
FERMATA_HOT void Audit::check(const Event& event, Tally& tally) {
  const Mark before = event.audit_mark();
  const bool closed = event.is_closed();
  const bool active = event.counts_as_active();
  bool queued = false;
  bool sound = closed ? event.loop_ref_count() == 0 : !before.has(Mark::kWasClosed);
  if (event.kind() == backend::EventKind::Coroutine) {
    queued = says_queued(as_coroutine(event));
    sound = sound && is_sound(as_coroutine(event));
  }
  tally.active += count_of(active) - count_of(before.has(Mark::kCountedActive));
  tally.queued += count_of(queued) - count_of(before.has(Mark::kCountedQueued));
  if (!sound) [[unlikely]] {
    complain_about(event);
  }
  event.audit_mark().bits = static_cast<std::uint8_t>(count_of(active) * Mark::kCountedActive +
                                                      count_of(queued) * Mark::kCountedQueued +
                                                      count_of(closed) * Mark::kWasClosed);
}

FERMATA_HOT void Audit::check_subscribers(const Event& event) {
  bool sound = true;
  event.callbacks().for_each(
      [&](const backend::Callback& callback) { sound &= is_sound(event, callback); });
  if (!sound) [[unlikely]] {
    complain_about_subscribers(event);
  }
}

FERMATA_HOT void Audit::check_counters() {
  if (count_kept() != counted_) [[unlikely]] {
    complain_about_counters();
  }
}

FERMATA_HOT void Audit::check_touched() {
  Tally tally = counted_;
  for (const Event* event : trace_log().touched()) {
    if (event == nullptr) [[unlikely]] {
      continue;
    }
    check(*event, tally);
    if (event->callbacks().size() <= kFewSubscribers) [[likely]] {
      check_subscribers(*event);
    }
  }
  counted_ = tally;
  trace_log().forget_all();
  check_counters();
}

// The majority vote of Boyer and Moore.
FERMATA_HOT void Audit::find_busy(const CoroutineBase* current) noexcept {
  const std::uint64_t id = current != nullptr ? current->id() : 0;
  if (busy_votes_ == 0) busy_ = id;
  busy_votes_ = busy_ == id ? busy_votes_ + 1 : busy_votes_ - 1;
}

// The scheduler's loop went round and nothing happened.
FERMATA_HOT void Audit::note_idle_round() {
  if (++idle_rounds_ > kMostIdleRounds) [[unlikely]] {
    report_idleness();
  }
}

void Audit::end_step(Runtime& runtime) {
  if (record_.over()) [[unlikely]] {
    leave_run();
  }
  if (trace_log().touched().empty()) return note_idle_round();
  idle_rounds_ = 0;
  if (telling_ != nullptr) [[unlikely]] {
    telling_->end_step(runtime, trace_log().touched());
  }
  ++record_.steps;
  if (options_.record_steps) record_.step_hashes.push_back(record_.hash.value());
  find_busy(runtime.current());
  const std::size_t pause = runtime.kernel().live_events.size() + kLeastStepsBetweenRecounts;
  if (options_.full || ++steps_since_recount_ > pause) {
    meet_recount();
  } else if (sampled_) {
    trace_log().start_over();
  } else {
    check_touched();
  }
  if (record_.steps > look_after_) [[unlikely]] {
    stop_or_report_livelock();
  } else if (++at_instant_ > options_.limits.steps_at_instant) [[unlikely]] {
    report_standstill(nullptr);
  }
  if (!record_.pledges.empty()) [[unlikely]] {
    check_pledges();
  }
  if (record_.over()) [[unlikely]] {
    leave_run();
  }
  if (interrupter_.armed()) [[unlikely]] {
    interrupter_.end_step(runtime.current());
  }
  if (options_.steps == nullptr) [[unlikely]] {
    return;
  }
  const std::uint64_t at_instant = at_instant_;
  options_.steps->step_ended();
  at_instant_ = at_instant;  // Nobody has waited for time that passes there.
}

// The recounts of a sampled run are some of those that it would have otherwise, so that it finds
// nothing that an audit of each step does not. The trace chooses them: others in each run.
void Audit::meet_recount() {
  steps_since_recount_ = 0;
  if (sampled_ && record_.hash.value() % kRecountsForOneSample != 0) {
    return trace_log().start_over();
  }
  recount();
  if (!runtime_->scheduler().is_shutting_down()) look_for_stuck();
}

void Audit::recount() {
  steps_since_recount_ = 0;
  trace_log().forget_all();
  Tally tally = counted_;
  for (const Event* event = runtime_->kernel().live_events.first(); event != nullptr;
       event = event->next_live()) {
    check(*event, tally);
    check_subscribers(*event);
    check_lines(*event);
  }
  counted_ = tally;
  check_counters();
  check_ready_queue();
  check_timers();
  check_registry();
  check_scopes();
}

// Each entry is marked as it is met: the marks of all are clear between two steps.
void Audit::check_ready_queue() {
  const fermata::detail::ReadyQueue& ready = runtime_->scheduler().ready();
  for (std::size_t i = 0; i < ready.size(); ++i) {
    if (!says_queued(ready[i])) {
      complain("CORE-WK-02", fmt::format("{} is in the ready queue and is {}", ready[i].info(),
                                         to_string(ready[i].waker().status)));
    }
    Mark& mark = ready[i].audit_mark();
    if (mark.has(Mark::kTouched)) {
      complain("CORE-WK-02",
               fmt::format("coroutine {} is in the ready queue twice", ready[i].id()));
    }
    mark.set(Mark::kTouched);
  }
  for (std::size_t i = 0; i < ready.size(); ++i) ready[i].audit_mark().unset(Mark::kTouched);
}

void Audit::check_timers() {
  const fermata::detail::TimerQueue& timers = runtime_->timers();
  if (timers.is_in_order()) return;
  complain("TMR-04", fmt::format("the queue of {} timers is out of order", timers.size()));
}

void Audit::check_lines(const Event& event) {
  if (event.lines_are_in_order()) return;
  complain("CORE-GL-04", fmt::format("waiters are out of order: {}", event.info()));
}

void Audit::check_registry() {
  std::size_t members = 0;
  std::size_t zombies = 0;
  for (const CoroutineBase* each = runtime_->registry().first(); each != nullptr;
       each = each->next_registered()) {
    ++members;
    if (each->is_zombie()) ++zombies;
    if (each->is_closed()) {
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

// --- complaints ---

FERMATA_COLD void Audit::complain_about_counters() {
  const Tally kept = count_kept();
  if (kept.active != counted_.active) {
    complain("CORE-EV-01", fmt::format("the count of active events is {}, active are {}",
                                       kept.active, counted_.active));
  }
  if (kept.queued != counted_.queued) {
    complain("CORE-WK-02", fmt::format("{} coroutines are in the ready queue, {} say so",
                                       kept.queued, counted_.queued));
  }
}

FERMATA_COLD void Audit::complain_about(const Event& event) {
  if (event.is_closed() && event.loop_ref_count() > 0) {
    complain("CORE-EV-05", fmt::format("{} is closed and has {} loop references", event.info(),
                                       event.loop_ref_count()));
  } else if (event.audit_mark().has(Mark::kWasClosed) && !event.is_closed()) {
    complain("CORE-EV-05", fmt::format("{} was closed and is open again", event.info()));
  } else {
    complain_about_coroutine(as_coroutine(event));
  }
}

void Audit::complain_about_coroutine(const CoroutineBase& coroutine) {
  const backend::Waker& waker = coroutine.waker();
  if (waker.status == backend::WakerStatus::Waiting) {
    if (waker.empty()) {
      complain("CORE-GL-01", fmt::format("{} waits for nothing: it is lost", coroutine.info()));
    }
    for (const backend::Registration* each = waker.first(); each != nullptr; each = each->next()) {
      if (!is_sound(*each)) complain_about_registration(*each);
    }
  } else if (!waker.empty()) {
    complain("CORE-WK-03", fmt::format("{} is {} and still has registrations", coroutine.info(),
                                       to_string(waker.status)));
  } else if (waker.status == backend::WakerStatus::None) {
    complain("CORE-WK-09",
             fmt::format("{} has left its wait and still holds its answer", coroutine.info()));
  } else {
    complain("CORE-CO-02", fmt::format("{} is {}", coroutine.info(), to_string(waker.status)));
  }
}

void Audit::complain_about_registration(const backend::Registration& registration) {
  const Event& source = registration.source();
  const std::string waiter = registration.coroutine().info();
  if (registration.event() != &source) {
    complain("CORE-WK-03",
             fmt::format("{} waits for {} and is not subscribed to it", waiter, source.info()));
  } else if (registration.ref_count() != 2) {
    complain("CORE-CB-06", fmt::format("the registration of {} at {} has {} references, not 2",
                                       waiter, source.info(), registration.ref_count()));
  } else {
    complain("CORE-EV-02",
             fmt::format("{} has started {}, which has no loop reference", waiter, source.info()));
  }
}

FERMATA_COLD void Audit::complain_about_subscribers(const Event& event) {
  event.callbacks().for_each([&](const backend::Callback& callback) {
    if (callback.event() != &event) {
      complain("CORE-CB-04", fmt::format("a subscriber of {} does not know of it", event.info()));
    } else if (const auto* registration = dynamic_cast<const backend::Registration*>(&callback)) {
      if (is_waited_for(event, *registration)) return;
      complain("CORE-GL-02", fmt::format("{} is subscribed to {} and does not wait for it",
                                         registration->coroutine().info(), event.info()));
    }
  });
}

}  // namespace fermata::sim::detail
