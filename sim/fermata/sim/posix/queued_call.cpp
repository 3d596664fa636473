// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/queued_call.hpp"

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

// A counter that is at its end is told nothing.
void QueueEntry::end(std::int64_t result) const {
  FERMATA_ASSERT(queue != nullptr);
  queue->end(
      {.data = data, .obj = reinterpret_cast<std::uintptr_t>(asked), .res = result, .res2 = 0});
  if (counter == nullptr) return;
  std::uint64_t one = 1;
  const iovec number = {&one, sizeof one};
  static_cast<void>(counter->write({&number, 1}));
}

QueuedPoll::QueuedPoll(Machine& machine, std::list<QueuedPoll>& all, QueueEntry entry,
                       std::shared_ptr<Description> watched, Readiness wanted)
    : machine_(machine),
      all_(all),
      entry_(std::move(entry)),
      watched_(std::move(watched)),
      wanted_(wanted | kAlwaysTold),
      report_(*this) {
  watched_->add(*this);
}

QueuedPoll::~QueuedPoll() { watched_->remove(*this); }

void QueuedPoll::begin(std::list<QueuedPoll>::iterator self) {
  FERMATA_ASSERT(&*self == this);
  self_ = self;
  look(kAnything);
}

void QueuedPoll::look(Readiness) {
  if (report_.is_scheduled() || found() == 0) return;
  machine_.agenda().schedule(report_, machine_.earliest_visible_time(), watched_->key());
}

// It holds what it watches.
void QueuedPoll::gone(Description&) { FERMATA_ASSERT(false); }

// Somebody else may have taken what was there.
void QueuedPoll::tell() {
  if (const Readiness now = found()) finish(now);
}

void QueuedPoll::finish(Readiness answer) {
  const QueueEntry entry = entry_;
  all_.erase(self_);
  entry.end(answer);
}

}  // namespace fermata::sim::detail
