// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/trigger.hpp"

#include <algorithm>

#include "fermata/base/assert.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/wait_facts.hpp"

namespace fermata::backend {

namespace {

// There is a log under simulation only; it knows what this runtime's own coroutines do.
void note_fire(const Event& trigger) {
  const Runtime& runtime = trigger.runtime();
  if (runtime.kernel().wait_log == nullptr) [[likely]] {
    return;
  }
  if (detail::current_runtime_pointer != &runtime) return;
  runtime.kernel().wait_log->note(WaitAct::Notified, trigger, nullptr, 0);
}

}  // namespace

TriggerHandle::TriggerHandle(Triggers& triggers)
    : Handle(triggers.attachment_, EventKind::Trigger), triggers_(triggers) {}

void TriggerHandle::fire() noexcept {
  if (!open_.load()) return;
  note_fire(*this);
  if (!posted_.exchange(true)) triggers_.post(*this);
}

void TriggerHandle::explain_wait(WaitFacts& facts, const CoroutineBase& waiter) const {
  if (subject_ != nullptr) return subject_->explain_wait(facts);
  Handle::explain_wait(facts, waiter);
  facts.outside("whoever fires it");
}

void TriggerHandle::close_backend() noexcept {
  FERMATA_ASSERT(open_.load());
  if (keeper_ != nullptr) std::exchange(keeper_, nullptr)->before_close();
  open_.store(false);
  triggers_.forget(*this);
  close_acknowledged();
}

Ref<TriggerHandle> Triggers::make() { return Ref<TriggerHandle>::adopt(*new TriggerHandle(*this)); }

void Triggers::post(TriggerHandle& trigger) noexcept {
  TriggerHandle* newest = posted_.load();
  do {
    trigger.next_ = newest;
  } while (!posted_.compare_exchange_weak(newest, &trigger));
  request_delivery();
}

void Triggers::collect() {
  const auto older = static_cast<std::ptrdiff_t>(ready_.size());
  for (TriggerHandle* trigger = posted_.exchange(nullptr); trigger != nullptr;
       trigger = trigger->next_) {
    ready_.push_back(trigger);
  }
  std::reverse(ready_.begin() + older, ready_.end());
}

void Triggers::forget(const TriggerHandle& trigger) {
  FERMATA_ASSERT(!trigger.open_.load());
  collect();
  std::replace(ready_.begin(), ready_.end(), const_cast<TriggerHandle*>(&trigger),
               static_cast<TriggerHandle*>(nullptr));
}

void Triggers::deliver() {
  if (posted_.load() == nullptr && ready_.empty()) return;
  collect();
  const std::size_t count = ready_.size();
  for (std::size_t i = 0; i < count; ++i) {
    TriggerHandle* trigger = std::exchange(ready_[i], nullptr);
    if (trigger == nullptr) continue;
    FERMATA_ASSERT(trigger->open_.load());
    trigger->posted_.exchange(false);  // Takes over what the producer wrote before its fire.
    try {
      trigger->notify({trigger, nullptr});
    } catch (...) {
      attachment_.runtime().report_unhandled(std::current_exception());
    }
  }
  FERMATA_ASSERT(ready_.size() >= count);
  ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace fermata::backend
