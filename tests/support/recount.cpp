// SPDX-License-Identifier: Apache-2.0
#include "tests/support/recount.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "fermata/core/coroutine.hpp"
#include "fermata/core/waker.hpp"
#include "tests/support/checks.hpp"

namespace fermata::test {

Recount::~Recount() {
  if (!complaints_.empty()) return;
  for (std::string_view ids : checked_) {
    for (ids = ids.substr(0, ids.find(':')); !ids.empty();) {
      const std::size_t end = std::min(ids.find(' '), ids.size());
      testing::note_checked(ids.substr(0, end));
      ids.remove_prefix(std::min(end + 1, ids.size()));
    }
  }
}

void Recount::note(backend::Trace kind, const Event* subject, std::uint64_t detail) {
  for (const std::uint64_t part :
       {static_cast<std::uint64_t>(kind), subject != nullptr ? subject->serial() : 0, detail}) {
    hash_ = (hash_ ^ part) * 0x100000001b3ULL;
  }
  if (subject != nullptr) note_switch(kind, *subject);
}

void Recount::note_switch(backend::Trace kind, const Event& subject) {
  switch (kind) {
    case backend::Trace::Enqueued:
      check(queued_.insert(&subject).second, "CORE-GL-06 EVT-08: queued once", &subject);
      return;
    case backend::Trace::Started:
    case backend::Trace::Entered:
      queued_.erase(&subject);
      check(running_ == nullptr, "CORE-SC-21: one context runs", &subject);
      check(subject.runtime().current() == &subject, "CORE-SC-21: current", &subject);
      running_ = &subject;
      return;
    case backend::Trace::Left:
      running_ = nullptr;
      return;
    case backend::Trace::Finished:
      queued_.erase(&subject);
      if (running_ == &subject) running_ = nullptr;
      return;
    default:
      return;
  }
}

void Recount::end_step(Runtime& runtime) {
  ++steps_;
  started_here_.clear();
  std::uint64_t last_id = 0;
  std::size_t zombies = 0;
  for (const CoroutineBase* each = runtime.registry().first(); each != nullptr;
       each = each->next_registered()) {
    check(each->id() > last_id, "CORE-SC-20: registry ordered by id", each);
    last_id = each->id();
    zombies += each->is_zombie() ? 1 : 0;
    check_coroutine(runtime, *each);
  }
  const detail::Scheduler& scheduler = runtime.scheduler();
  check(scheduler.active_coroutine_count() == runtime.registry().size() - zombies,
        "CORE-CO-12: active coroutines", nullptr);
  check_scopes(runtime);
  check(scheduler.ready().size() == queued_.size(), "CORE-GL-06: every entry has a cause", nullptr);
  check_events(runtime);
}

void Recount::check_coroutine(const Runtime& runtime, const CoroutineBase& coroutine) {
  const detail::ReadyQueue& ready = runtime.scheduler().ready();
  std::size_t entries = 0;
  for (std::size_t i = 0; i < ready.size(); ++i) entries += &ready[i] == &coroutine ? 1 : 0;
  check(entries == (coroutine.is_queued() ? 1u : 0u), "CORE-WK-02: in the ring once", &coroutine);
  check(!coroutine.is_completed(), "CORE-CO-01: registered and finished", &coroutine);
  check(coroutine.waker().status != backend::WakerStatus::None,
        "CORE-GL-01 CORE-CO-02: neither queued, waiting nor running", &coroutine);
  switch (coroutine.waker().status) {
    case backend::WakerStatus::Waiting:
      check_waiting(coroutine);
      return;
    case backend::WakerStatus::Queued:
    case backend::WakerStatus::Ignored:
      check(coroutine.waker().empty(), "CORE-WK-03 G-01: subscribed after the wake", &coroutine);
      return;
    case backend::WakerStatus::Result:  // Answered in its own tick.
      check(runtime.current() == &coroutine, "CORE-GL-01: lost", &coroutine);
      check(coroutine.waker().empty(), "CORE-WK-03 G-01: subscribed after the wake", &coroutine);
      return;
    case backend::WakerStatus::None:
      return;
  }
}

void Recount::check_waiting(const CoroutineBase& coroutine) {
  check(!coroutine.waker().empty(), "CORE-SC-01: waits for nothing", &coroutine);
  for (const backend::Registration* entry = coroutine.waker().first(); entry != nullptr;
       entry = entry->next()) {
    const Event& source = entry->source();
    check(entry->event() == &source, "CORE-WK-03: waits without a subscription", &coroutine);
    check(!source.is_closed(), "CORE-GL-02: waits for an event that has ended", &coroutine);
    bool listed = false;
    source.callbacks().for_each(
        [&](backend::Callback& each) { listed = listed || &each == entry; });
    check(listed, "CORE-GL-03: not among the subscribers", &coroutine);
    if (entry->is_started()) ++started_here_[&source];
  }
}

void Recount::check_scopes(const Runtime& runtime) {
  const detail::ScopeForest& scopes = runtime.scheduler().scopes();
  std::size_t members = check_scope(*scopes.root()).all;
  for (const ScopeBase* each = scopes.detached().first(); each != nullptr;
       each = each->next_sibling()) {
    check(each->parent() == nullptr, "CORE-SP-01: detached and has a parent", each);
    members += check_scope(*each).all;
  }
  check(members == runtime.registry().size(), "CORE-SP-01: each in exactly one scope", nullptr);
}

Recount::Population Recount::check_scope(const ScopeBase& scope) {
  Population own;
  for (const CoroutineBase* each = scope.first_member(); each != nullptr;
       each = CoroutineBase::ScopeList::after(*each)) {
    check(&each->scope() == &scope, "CORE-SP-01: member of another scope", each);
    check(!each->is_closed(), "CORE-SP-01: member and finished", each);
    ++own.all;
    own.active += each->is_zombie() ? 0 : 1;
  }
  check(scope.member_count() == own.all, "CORE-SP-01: members", &scope);
  check(scope.active_count() == own.active, "CORE-SP-01: active members", &scope);
  std::size_t busy = 0;
  std::size_t live = 0;
  for (const ScopeBase* each = scope.first_child(); each != nullptr; each = each->next_sibling()) {
    check(each->parent() == &scope, "CORE-SP-01: child of another scope", each);
    check(!scope.is_closed() || each->is_closed() || each->is_for_cleanup(),
          "CORE-SP-11: open in a closed scope", each);
    const Population inside = check_scope(*each);
    busy += inside.active > 0 ? 1 : 0;
    live += inside.all > 0 ? 1 : 0;
    own.all += inside.all;
    own.active += inside.active;
  }
  check(scope.busy_child_count() == busy, "CORE-SP-02: busy children", &scope);
  check(scope.live_child_count() == live, "CORE-SP-02: live children", &scope);
  check(scope.is_idle() == (own.active == 0), "CORE-SP-02: idle", &scope);
  check(scope.is_empty() == (own.all == 0), "CORE-SP-02: empty", &scope);
  check(!scope.is_closed() || scope.member_count() == 0, "CORE-SP-11: closed with members", &scope);
  return own;
}

void Recount::check_events(const Runtime& runtime) {
  std::size_t active = 0;
  for (const Event* each = runtime.kernel().live_events.first(); each != nullptr;
       each = each->next_live()) {
    active += each->counts_as_active() ? 1 : 0;
    // The runtime itself starts hidden events, and those that it has subscribed to.
    bool only_waited_for = !each->is_hidden();
    each->callbacks().for_each([&](const backend::Callback& callback) {
      only_waited_for &= dynamic_cast<const backend::Registration*>(&callback) != nullptr;
    });
    const std::uint32_t started = started_here_[each];
    check(only_waited_for ? each->loop_ref_count() == started : each->loop_ref_count() >= started,
          "CORE-EV-02: loop references", each);
    check(!each->is_closed() || each->loop_ref_count() == 0, "CORE-EV-05: closed and in the loop",
          each);
    each->callbacks().for_each([&](backend::Callback& callback) {
      const auto* registration = dynamic_cast<const backend::Registration*>(&callback);
      if (registration == nullptr) return;
      check(registration->coroutine().waker().status == backend::WakerStatus::Waiting,
            "CORE-GL-02: subscriber does not wait", each);
    });
  }
  check(active == runtime.active_event_count(), "CORE-EV-01 CORE-GL-04 G-02: active events",
        nullptr);
}

void Recount::check(bool holds, const char* what, const Event* subject) {
  checked_.insert(what);
  if (holds) return;
  complaints_.push_back(std::string(what) + (subject != nullptr ? ": " + subject->info() : ""));
}

}  // namespace fermata::test
