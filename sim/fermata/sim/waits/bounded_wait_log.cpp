// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/waits/bounded_wait_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/sim/record/run_log.hpp"
#include "fermata/sim/waits/subject.hpp"

namespace fermata::sim::detail {

namespace {

constexpr std::size_t kOvertakersKept = 8;

/// Whether only somebody's action fires the event.
bool is_fired_by_hand(const Event& event) noexcept {
  return event.kind() == backend::EventKind::Plain || event.kind() == backend::EventKind::Trigger;
}

/// Who is told first when it fires; null: nobody waits.
const CoroutineBase* first_waiter(const Event& event) {
  const CoroutineBase* first = nullptr;
  event.callbacks().for_each([&](const backend::Callback& each) {
    const auto* registration = dynamic_cast<const backend::Registration*>(&each);
    if (registration != nullptr && first == nullptr) first = &registration->coroutine();
  });
  return first;
}

const char* how_it_ended(const CoroutineBase& coroutine) {
  FERMATA_ASSERT(coroutine.is_closed());
  if (!coroutine.error()) return "ended";
  return is_cancellation(coroutine.error()) ? "was cancelled" : "failed";
}

/// What a coroutine does to a resource: "takes #1 of pool 'connections'".
std::string lease_text(backend::WaitAct act, const backend::PoolResource& resource) {
  FERMATA_ASSERT(resource.number > 0);
  const std::string pool = resource.pool_name.empty()
                               ? std::string("a pool")
                               : fmt::format("pool '{}'", resource.pool_name);
  if (act == backend::WaitAct::Gave)
    return fmt::format("gives #{} back to {}", resource.number, pool);
  const bool taken = act == backend::WaitAct::Took;
  return fmt::format("{} #{} of {}", taken ? "takes" : "discards", resource.number, pool);
}

/// Null when it has ended.
const CoroutineBase* find_coroutine(const Runtime& runtime, std::uint64_t id) {
  const CoroutineBase* each = runtime.registry().first();
  while (each != nullptr && each->id() != id) each = each->next_registered();
  return each;
}

}  // namespace

void BoundedWaitLog::begin(const Runtime& runtime, const std::uint64_t& steps, RunLog* run_log) {
  runtime_ = &runtime;
  steps_ = &steps;
  run_log_ = run_log;
  objects_.clear();
  people_.clear();
  resumed_at_.clear();
  ready_since_.clear();
  namesakes_.clear();
  numbers_.clear();
}

void BoundedWaitLog::remember(const CoroutineBase& coroutine) {
  Person& person = people_[coroutine.id()];
  if (person.label.empty()) person.label = coroutine.label();
  FERMATA_ASSERT(!person.label.empty());
}

BoundedWaitLog::Deed BoundedWaitLog::present(const char* did) const {
  FERMATA_ASSERT(runtime_ != nullptr);
  FERMATA_ASSERT(did[0] != '\0');
  Deed deed;
  deed.did = did;
  deed.at = runtime_->now();
  deed.step = *steps_ + 1;
  return deed;
}

BoundedWaitLog::Deed BoundedWaitLog::deed(const char* did, const SourcePlace* place) {
  Deed deed = present(did);
  const CoroutineBase* const doer = runtime_->current();
  if (doer != nullptr) {
    remember(*doer);
    deed.who = doer->id();
    const auto began = resumed_at_.find(doer->id());
    deed.place = began != resumed_at_.end() ? began->second : doer->spawn_place();
  }
  deed.exact = place != nullptr;
  if (place != nullptr) deed.place = *place;
  return deed;
}

void BoundedWaitLog::note(backend::WaitAct act, const Event& event, const SourcePlace* place,
                          std::uint64_t detail) {
  const CoroutineBase* const doer = runtime_->current();
  Object& object = objects_[event.serial()];
  if (act == backend::WaitAct::Dropped) {
    object.ended = deed("dropped", place);
    return;
  }
  if (act == backend::WaitAct::Notified) {
    object.fired = event.kind() == backend::EventKind::Trigger;
    object.woken = deed(object.fired ? "fired" : "notified", place);
    object.woken->woke = detail;
    if (const CoroutineBase* woken = find_coroutine(*runtime_, detail)) remember(*woken);
    return;
  }
  if (doer == nullptr) return;
  Dealings& dealings = object.by[doer->id()];
  const auto amount = static_cast<std::int64_t>(detail);
  switch (act) {
    case backend::WaitAct::Took:
      dealings.balance += amount;
      dealings.refused = 0;
      dealings.overtaken_by.clear();
      dealings.last = deed("took", place);
      return;
    case backend::WaitAct::Gave:
    case backend::WaitAct::Discarded:
      dealings.balance -= amount;
      object.woken = deed("released", place);
      return;
    case backend::WaitAct::Sent:
      ++dealings.sent;
      dealings.last = deed("sent", place);
      return;
    case backend::WaitAct::Received:
      ++dealings.received;
      dealings.last = deed("received", place);
      return;
    case backend::WaitAct::Arrived:
      ++dealings.arrived;
      dealings.last = deed("arrived", place);
      return;
    case backend::WaitAct::Used:
      ++dealings.used;
      dealings.last = deed("used", place);
      return;
    case backend::WaitAct::Refused: {
      ++dealings.refused;
      dealings.last = deed("was refused", place);
      auto& by = dealings.overtaken_by;
      const bool known = std::find(by.begin(), by.end(), detail) != by.end();
      if (detail == 0 || known || by.size() == kOvertakersKept) return;
      FERMATA_ASSERT(by.size() < kOvertakersKept);
      by.push_back(detail);
      if (const CoroutineBase* holder = find_coroutine(*runtime_, detail)) remember(*holder);
      return;
    }
    case backend::WaitAct::Notified:
    case backend::WaitAct::Dropped:
      return;
  }
}

void BoundedWaitLog::note_lease(backend::WaitAct act, const backend::PoolResource& resource,
                                const SourcePlace* place) {
  note(act, resource.pool, place, 1);
  if (run_log_ != nullptr && runtime_->current() != nullptr) {
    run_log_->called(runtime_->options().name, lease_text(act, resource));
  }
}

void BoundedWaitLog::note(backend::Trace kind, const Event& subject, std::uint64_t detail) {
  switch (kind) {
    case backend::Trace::EventFired:
      if (is_fired_by_hand(subject)) note_fire(subject);
      return;
    case backend::Trace::EventStopped:
      if (subject.kind() == backend::EventKind::Timer && detail == 0) {
        objects_[subject.serial()].ended = deed("stopped", nullptr);
      }
      return;
    case backend::Trace::EventClosed:
      if (subject.kind() == backend::EventKind::Timer) {
        objects_[subject.serial()].ended = deed("closed", nullptr);
      }
      return;
    case backend::Trace::EventDestroyed:
      objects_.erase(subject.serial());
      return;
    case backend::Trace::Enqueued: {
      const CoroutineBase& coroutine = as_coroutine(subject);
      ready_since_.emplace(coroutine.id(), *steps_ + 1);
      if (static_cast<backend::WakeCause>(detail) == backend::WakeCause::Spawn)
        note_spawn(coroutine);
      const SourcePlace* place = coroutine.suspend_place();
      if (place != nullptr) resumed_at_[coroutine.id()] = *place;
      return;
    }
    case backend::Trace::Started:
    case backend::Trace::Entered:
      ready_since_.erase(as_coroutine(subject).id());
      return;
    case backend::Trace::Finished: {
      const CoroutineBase& coroutine = as_coroutine(subject);
      ready_since_.erase(coroutine.id());
      resumed_at_.erase(coroutine.id());
      if (!coroutine.name().empty()) remember(coroutine);
      const auto known = people_.find(coroutine.id());
      if (known == people_.end()) return;
      known->second.end = present(how_it_ended(coroutine));
      return;
    }
    default:
      return;
  }
}

// A trigger tells of its fire later, and then it is nobody's step.
void BoundedWaitLog::note_fire(const Event& event) {
  FERMATA_ASSERT(is_fired_by_hand(event));
  Object& object = objects_[event.serial()];
  if (!std::exchange(object.fired, false)) object.woken = deed("fired", nullptr);
  const CoroutineBase* const woken = first_waiter(event);
  if (woken == nullptr) return;
  remember(*woken);
  FERMATA_ASSERT(object.woken.has_value());
  object.woken->woke = woken->id();
}

const BoundedWaitLog::Object* BoundedWaitLog::find(const Event& object) const {
  const auto found = objects_.find(object.serial());
  return found != objects_.end() ? &found->second : nullptr;
}

const BoundedWaitLog::Person* BoundedWaitLog::find(std::uint64_t coroutine) const {
  const auto found = people_.find(coroutine);
  return found != people_.end() ? &found->second : nullptr;
}

std::string BoundedWaitLog::label(std::uint64_t coroutine) const {
  const Person* person = find(coroutine);
  return person != nullptr ? person->label + number(coroutine)
                           : fmt::format("coroutine {}", coroutine);
}

std::string BoundedWaitLog::number(std::uint64_t coroutine) const {
  const auto found = numbers_.find(coroutine);
  return found != numbers_.end() ? fmt::format(" #{}", found->second) : std::string();
}

void BoundedWaitLog::note_spawn(const CoroutineBase& coroutine) {
  if (coroutine.name().empty()) return;
  const std::uint64_t number = ++namesakes_[coroutine.label()];
  if (number > 1) numbers_.emplace(coroutine.id(), number);
}

std::uint64_t BoundedWaitLog::ready_since(const CoroutineBase& coroutine) const {
  const auto found = ready_since_.find(coroutine.id());
  if (found == ready_since_.end()) return 0;
  FERMATA_ASSERT(found->second <= *steps_ + 1);
  return found->second;
}

}  // namespace fermata::sim::detail
