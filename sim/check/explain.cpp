// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/check/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "fermata/runtime/core/runtime.hpp"

namespace fermata::sim::detail {

namespace {

bool waits(const CoroutineBase& coroutine) noexcept {
  return coroutine.waker().status == WakerStatus::Waiting;
}

std::string name_of(const CoroutineBase& coroutine) {
  return coroutine.name().empty()
             ? coroutine.label()
             : fmt::format("'{}' (coroutine {})", coroutine.name(), coroutine.id());
}

/// The coroutines that wait for the end of another one, and for nothing else.
const CoroutineBase* only_waits_for(const CoroutineBase& coroutine) noexcept {
  const Registration* first = coroutine.waker().first();
  if (!waits(coroutine) || first == nullptr || first->next() != nullptr) return nullptr;
  if (first->source().kind() != EventKind::Coroutine) return nullptr;
  return &static_cast<const CoroutineBase&>(first->source());
}

/// The ring that `start` is a member of, beginning with it; empty when it is in none.
std::vector<const CoroutineBase*> ring_of(const CoroutineBase& start, std::size_t population) {
  std::vector<const CoroutineBase*> ring;
  for (const CoroutineBase* each = &start; each != nullptr && ring.size() <= population;
       each = only_waits_for(*each)) {
    if (each == &start && !ring.empty()) return ring;
    ring.push_back(each);
  }
  return {};
}

/// Each ring once, beginning with its oldest member.
std::vector<std::vector<const CoroutineBase*>> rings(const Runtime& runtime) {
  std::vector<std::vector<const CoroutineBase*>> found;
  for (const CoroutineBase* each = runtime.registry().first(); each != nullptr;
       each = each->next_registered()) {
    auto ring = ring_of(*each, runtime.registry().size());
    const bool is_oldest = std::all_of(ring.begin(), ring.end(), [&](const CoroutineBase* member) {
      return member->id() >= each->id();
    });
    if (!ring.empty() && is_oldest) found.push_back(std::move(ring));
  }
  return found;
}

std::string describe_ring(const std::vector<const CoroutineBase*>& ring) {
  std::string text = "cycle: ";
  for (const CoroutineBase* member : ring) text += name_of(*member) + " -> ";
  return text + name_of(*ring.front()) + "\n";
}

std::uint32_t registrations_at(const Event& event) {
  std::uint32_t count = 0;
  event.callbacks().for_each([&](const Callback&) { ++count; });
  return count;
}

/// What is wrong with a wait for an event that is no coroutine.
std::string diagnose(const CoroutineBase& waiter, const Event& event) {
  if (event.kind() != EventKind::Plain) return {};
  if (event.owner() == nullptr && event.ref_count() <= registrations_at(event)) {
    return fmt::format("orphan: nobody but its waiters refers to {}, so nobody can fire it\n",
                       event.info());
  }
  return fmt::format("lost wake-up: nobody is left to fire {}, which {} waits for\n", event.info(),
                     name_of(waiter));
}

/// Those in whose hands the end of the scope is.
std::string describe_members(const ScopeBase& scope) {
  std::string text;
  for (const CoroutineBase* each = scope.first_member(); each != nullptr;
       each = CoroutineBase::ScopeList::after(*each)) {
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", name_of(*each),
                        each->is_zombie() ? ", a zombie" : "");
  }
  for (const ScopeBase* each = scope.first_child(); each != nullptr; each = each->next_sibling()) {
    if (!each->is_empty()) text += (text.empty() ? "" : ", ") + each->info();
  }
  return fmt::format("  in which are: {}\n", text.empty() ? "nobody" : text);
}

std::string describe_wait(const CoroutineBase& coroutine) {
  std::string text = fmt::format("{} spawned at {}:{}, suspended at {}\n", name_of(coroutine),
                                 coroutine.spawn_place().file, coroutine.spawn_place().line,
                                 coroutine.suspend_place()->text());
  if (!coroutine.scope().is_root()) text += fmt::format("  in {}\n", coroutine.scope().info());
  for (const Registration* each = coroutine.waker().first(); each != nullptr; each = each->next()) {
    text += fmt::format("  waits for {}\n", each->source().info());
    if (each->source().kind() == EventKind::Scope) {
      text += describe_members(static_cast<const ScopeBase&>(each->source()));
    }
  }
  return text;
}

}  // namespace

std::string explain_waits(const Runtime& runtime) {
  std::string text;
  std::string diagnoses;
  for (const CoroutineBase* each = runtime.registry().first(); each != nullptr;
       each = each->next_registered()) {
    if (!waits(*each)) continue;
    text += describe_wait(*each);
    for (const Registration* wait = each->waker().first(); wait != nullptr; wait = wait->next()) {
      diagnoses += diagnose(*each, wait->source());
    }
  }
  for (const auto& ring : rings(runtime)) text += describe_ring(ring);
  return text + diagnoses;
}

std::string explain_stuck(const Runtime& runtime) {
  std::string text;
  for (const auto& ring : rings(runtime)) {
    const bool reachable = std::any_of(ring.begin(), ring.end(), [](const CoroutineBase* member) {
      return member->ref_count() > 1 + registrations_at(*member);  // A handle: it can be cancelled.
    });
    if (!reachable) text += describe_ring(ring);
  }
  return text;
}

std::string explain_leaks(const Runtime& runtime) {
  constexpr std::size_t kShown = 10;
  const auto& events = runtime.kernel().live_events;
  std::string text;
  if (!events.empty()) {
    text = fmt::format("CORE-EV-10: {} events outlive the run, first: {}\n", events.size(),
                       events.first()->info_with_place());
    std::size_t shown = 0;
    for (const Event* each = events.first(); each != nullptr && shown < kShown;
         each = each->next_live(), ++shown) {
      text += fmt::format("  {}, {} references\n", each->info_with_place(), each->ref_count());
    }
  }
  if (const std::size_t active = runtime.active_event_count(); active != 0) {
    text += fmt::format("CORE-EV-10: {} events are active after the run\n", active);
  }
  if (const std::size_t contexts = runtime.scheduler().contexts().stats().live; contexts != 0) {
    text += fmt::format("CORE-SC-14: {} contexts outlive the run\n", contexts);
  }
  return text;
}

}  // namespace fermata::sim::detail
