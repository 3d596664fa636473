// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/audit/interrupter.hpp"

#include "fermata/base/assert.hpp"

namespace fermata::sim::detail {

namespace {

backend::Registration* find_timeout(const CoroutineBase& coroutine) noexcept {
  backend::Registration* entry = coroutine.waker().first();
  while (entry != nullptr && entry->rule() != backend::WakeRule::Timeout) entry = entry->next();
  return entry;
}

}  // namespace

void Interrupter::arm(std::uint64_t first_id, Interruption how, std::uint64_t point) {
  FERMATA_ASSERT(point > 0);
  FERMATA_ASSERT(!armed_);
  *this = Interrupter();
  armed_ = true;
  how_ = how;
  first_id_ = first_id;
  point_ = point;
}

bool Interrupter::counts(const CoroutineBase& coroutine) const noexcept {
  if (coroutine.id() < first_id_) return false;
  const backend::WakerStatus status = coroutine.waker().status;
  switch (how_) {
    case Interruption::Cancel:
      return status == backend::WakerStatus::Waiting || status == backend::WakerStatus::Queued;
    case Interruption::LateCancel:
      return status == backend::WakerStatus::Waiting;
    case Interruption::Timeout:
      return status == backend::WakerStatus::Waiting && find_timeout(coroutine) != nullptr;
  }
  return false;
}

void Interrupter::end_step(CoroutineBase* current) {
  FERMATA_ASSERT(armed_);
  if (awaited_ && awaited_->waker().status == backend::WakerStatus::Queued) cancel(*awaited_);
  if (current == nullptr || !counts(*current) || ++seen_ != point_) return;
  victim_ = current->info();
  switch (how_) {
    case Interruption::Cancel:
      return cancel(*current);
    case Interruption::LateCancel:
      awaited_ = Ref<CoroutineBase>::share(*current);
      return;
    case Interruption::Timeout: {
      backend::Registration* const entry = find_timeout(*current);
      FERMATA_ASSERT(entry != nullptr);
      fired_ = true;
      entry->add_ref();  // It drops itself from its waker.
      entry->run(entry->source(), {});
      entry->release();
      return;
    }
  }
}

void Interrupter::cancel(CoroutineBase& coroutine) {
  FERMATA_ASSERT(armed_);
  fired_ = true;
  coroutine.cancel();
  awaited_.reset();
}

}  // namespace fermata::sim::detail
