// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/thread_pool_ledger.hpp"

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"

namespace fermata::detail {

std::exception_ptr not_begun() {
  return std::make_exception_ptr(Cancellation("ThreadPool task was cancelled before execution"));
}

ThreadPoolCounters ThreadPoolLedger::counters() const {
  const Lock held = lock();
  return counters_;
}

void ThreadPoolLedger::submitted() {
  const Lock held = lock();
  ++counters_.submitted;
  ++counters_.pending;
}

void ThreadPoolLedger::withdrawn() {
  const Lock held = lock();
  FERMATA_ASSERT(counters_.submitted > 0 && counters_.pending > 0);
  --counters_.submitted;
  --counters_.pending;
}

void ThreadPoolLedger::dropped(Fate fate) {
  const Lock held = lock();
  FERMATA_ASSERT(counters_.pending > 0);
  --counters_.pending;
  ++count(fate);
}

bool ThreadPoolLedger::begin(Running& running) {
  const Lock held = lock();
  if (cancelled_) return false;
  FERMATA_ASSERT(counters_.pending > 0);
  --counters_.pending;
  ++counters_.running;
  running_.push_back(running);
  return true;
}

void ThreadPoolLedger::end(Running& running, Fate fate) {
  const Lock held = lock();
  FERMATA_ASSERT(counters_.running > 0);
  running_.remove(running);
  --counters_.running;
  ++count(fate);
}

// No choice between threads: it must not matter whether a log is kept.
void ThreadPoolLedger::taken_up(Running& running) {
  backend::WaitPerson person = backend::WaitPerson::present();
  if (person.runtime == nullptr) return;
  const std::lock_guard held(mutex_);
  running.person = std::move(person);
}

void ThreadPoolLedger::explain_wait(backend::WaitFacts& facts) const {
  facts.state("not begun");
  const std::unique_lock held(mutex_, std::try_to_lock);
  if (!held.owns_lock()) return;
  for (const Running* each = running_.first(); each != nullptr;
       each = decltype(running_)::after(*each)) {
    if (each->person.runtime != nullptr) facts.in_hands_of(each->person, "its thread is with");
  }
}

void ThreadPoolLedger::cancel() {
  const Lock held = lock();
  cancelled_ = true;
  for (Running* each = running_.first(); each != nullptr; each = decltype(running_)::after(*each)) {
    each->trigger->fire();
  }
}

std::uint64_t& ThreadPoolLedger::count(Fate fate) noexcept {
  switch (fate) {
    case Fate::Completed:
      return counters_.completed;
    case Fate::Cancelled:
      return counters_.cancelled;
    case Fate::Rejected:
      break;
  }
  return counters_.rejected;
}

}  // namespace fermata::detail
