// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/channel_guard.hpp"

#include "fermata/base/assert.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/sync/channel_core.hpp"

namespace fermata::detail {

ChannelGuard::ChannelGuard(ChannelCore& channel, const ChannelOptions& options)
    : channel_(channel),
      options_(options),
      timer_(channel.runtime(), Duration::zero(), TimerMode::Multishot) {
  timer_.set_hidden(!options.hard_timeouts);
  timer_.add_callback(*this);
}

ChannelGuard::~ChannelGuard() {
  disarm();
  FERMATA_ASSERT(!listed_);
  timer_.remove_callback(*this);
}

Duration ChannelGuard::patience_of(Starving starving) const noexcept {
  switch (starving) {
    case Starving::Nobody:
      return Duration::zero();
    case Starving::Receivers:
      return options_.no_producer_timeout;
    case Starving::Senders:
      return options_.no_consumer_timeout;
  }
  return Duration::zero();
}

void ChannelGuard::update(Starving starving, bool progress) {
  if (starving == starving_ && !progress) return;
  const Duration patience = patience_of(starving);
  if (patience == Duration::zero()) return disarm();
  starving_ = starving;
  timer_.rearm(patience);
  if (options_.hard_timeouts || listed_) return;
  listed_ = true;
  channel_.runtime().scheduler().add_soft_resolver(*this);
}

void ChannelGuard::disarm() noexcept {
  starving_ = Starving::Nobody;
  timer_.stop();
  FERMATA_ASSERT(timer_.loop_ref_count() == 0);
  if (!listed_) return;
  listed_ = false;
  channel_.runtime().scheduler().remove_soft_resolver(*this);
}

void ChannelGuard::run(Event& /*timer*/, const Outcome& /*outcome*/) {
  FERMATA_ASSERT(starving_ != Starving::Nobody);
  channel_.close_because(starving_ == Starving::Receivers ? CloseReason::NoProducers
                                                          : CloseReason::NoConsumers);
}

void ChannelGuard::resolve() {
  FERMATA_ASSERT(listed_);
  FERMATA_ASSERT(starving_ != Starving::Nobody);
  listed_ = false;
  channel_.close_because(CloseReason::Deadlock);
}

}  // namespace fermata::detail
