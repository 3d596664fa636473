// SPDX-License-Identifier: Apache-2.0

// What the audit looks at, and what it says when something does not agree. The checks are lean; who
// fails one is looked at again, at leisure, for words.

#include <fmt/format.h>

#include <algorithm>
#include <typeinfo>
#include <utility>

#include "fermata/runtime/core/runtime.hpp"
#include "fermata/sim/check/audit.hpp"

namespace fermata::sim::detail {

namespace {

/// Events with more subscribers are looked at when everything is recounted.
constexpr std::uint32_t kFewSubscribers = 4;

const CoroutineBase& as_coroutine(const Event& event) noexcept {
  return static_cast<const CoroutineBase&>(event);
}

bool says_queued(const CoroutineBase& coroutine) noexcept {
  return coroutine.waker().status == WakerStatus::Queued ||
         coroutine.waker().status == WakerStatus::Ignored;
}

/// Subscribed to what it waits for, started where that means something.
bool is_sound(const Registration& registration) noexcept {
  const Event& source = registration.source();
  if (registration.event() != &source || registration.ref_count() != 2) return false;
  const bool needs_backend =
      registration.started() && source.kind() > EventKind::Coroutine && !source.closed();
  return !needs_backend || source.loop_ref_count() > 0;
}

bool is_sound(const CoroutineBase& coroutine) noexcept {
  const Waker& waker = coroutine.waker();
  if (waker.status != WakerStatus::Waiting) {
    if (!waker.empty()) return false;
    if (waker.status != WakerStatus::None) return !coroutine.closed();
    return waker.result == nullptr && !waker.error;
  }
  if (waker.empty()) return false;
  for (const Registration* each = waker.first(); each != nullptr; each = each->next()) {
    if (!is_sound(*each)) return false;
  }
  return true;
}

bool is_waited_for(const Event& event, const Registration& registration) noexcept {
  return registration.coroutine().waker().status == WakerStatus::Waiting &&
         &registration.source() == &event;
}

}  // namespace

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
  const bool closed = event.closed();
  bool sound = closed ? event.loop_ref_count() == 0 : !mark.was_closed;
  if (event.kind() == EventKind::Coroutine) {
    const CoroutineBase& coroutine = as_coroutine(event);
    const bool queued = says_queued(coroutine);
    queued_ += static_cast<std::size_t>(queued) - static_cast<std::size_t>(mark.counted_queued);
    mark.counted_queued = queued;
    sound = sound && is_sound(coroutine);
  }
  if (!sound) [[unlikely]] {
    complain_about(event);
  }
  mark.was_closed = closed;
}

void Audit::check_subscribers(const Event& event) {
  bool sound = true;
  event.callbacks().for_each([&](const Callback& callback) {
    sound = sound && callback.event() == &event &&
            (typeid(callback) != typeid(Registration) ||
             is_waited_for(event, static_cast<const Registration&>(callback)));
  });
  if (!sound) [[unlikely]] {
    complain_about_subscribers(event);
  }
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

// --- complaints ---

void Audit::complain_about(const Event& event) {
  if (event.closed() && event.loop_ref_count() > 0) {
    complain("CORE-EV-05", fmt::format("{} is closed and has {} loop references", event.info(),
                                       event.loop_ref_count()));
  } else if (event.audit_mark().was_closed && !event.closed()) {
    complain("CORE-EV-05", fmt::format("{} was closed and is open again", event.info()));
  } else {
    complain_about_coroutine(as_coroutine(event));
  }
}

void Audit::complain_about_coroutine(const CoroutineBase& coroutine) {
  const Waker& waker = coroutine.waker();
  if (waker.status == WakerStatus::Waiting) {
    if (waker.empty()) {
      complain("CORE-GL-01", fmt::format("{} waits for nothing: it is lost", coroutine.info()));
    }
    for (const Registration* each = waker.first(); each != nullptr; each = each->next()) {
      if (!is_sound(*each)) complain_about_registration(*each);
    }
  } else if (!waker.empty()) {
    complain("CORE-WK-03", fmt::format("{} is {} and still has registrations", coroutine.info(),
                                       to_string(waker.status)));
  } else if (waker.status == WakerStatus::None) {
    complain("CORE-WK-09",
             fmt::format("{} has left its wait and still holds its answer", coroutine.info()));
  } else {
    complain("CORE-CO-02", fmt::format("{} is {}", coroutine.info(), to_string(waker.status)));
  }
}

void Audit::complain_about_registration(const Registration& registration) {
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

void Audit::complain_about_subscribers(const Event& event) {
  event.callbacks().for_each([&](const Callback& callback) {
    if (callback.event() != &event) {
      complain("CORE-CB-04", fmt::format("a subscriber of {} does not know of it", event.info()));
    } else if (const auto* registration = dynamic_cast<const Registration*>(&callback)) {
      if (is_waited_for(event, *registration)) return;
      complain("CORE-GL-02", fmt::format("{} is subscribed to {} and does not wait for it",
                                         registration->coroutine().info(), event.info()));
    }
  });
}

}  // namespace fermata::sim::detail
