// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/channel_place.hpp"

#include "fermata/base/assert.hpp"

namespace fermata::detail {

ReceiverPlace::ReceiverPlace(SelectWait& wait, ChannelCore& channel)
    : SelectPlace(wait), channel_(Ref<ChannelCore>::share(channel)), waiter_(channel.receivers_) {
  channel.receivers_changed();
}

ReceiverPlace::~ReceiverPlace() { channel_->value_forfeited(waiter_); }

bool ReceiverPlace::is_due() const noexcept {
  return waiter_.granted() || channel_->has_free_value() || channel_->is_closed();
}

void ReceiverPlace::claim() noexcept {
  FERMATA_ASSERT(is_due());
  waiter_.leave();
}

// --- senders ---

SenderPlace::Next::Next(SenderPlace& place)
    : Waiter(place.channel_->senders_, &serve, &place.coroutine_), place_(place) {}

void SenderPlace::Next::serve(Waiter& self, const std::exception_ptr& error) {
  SenderPlace& place = static_cast<Next&>(self).place_;
  error ? place.wait().wake() : place.slot_is_free();
}

SenderPlace::SenderPlace(SelectWait& wait, ChannelCore& channel, void* value, Store store)
    : SelectPlace(wait),
      channel_(Ref<ChannelCore>::share(channel)),
      coroutine_(current_coroutine()),
      value_(value),
      store_(store) {
  FERMATA_ASSERT(value != nullptr);
  FERMATA_ASSERT(!is_due());
  if (channel.has_free_slot()) {
    hold_out();
  } else if (channel.is_rendezvous()) {
    next_.emplace(*this);
  } else {
    slot_.emplace(channel.senders_, coroutine_);
  }
  channel.starvation_changed(false);
}

SenderPlace::~SenderPlace() {
  if (next_) next_->leave();
  if (taker_) channel_->delivery_forfeited(*taker_);
  if (slot_) channel_->slot_forfeited(*slot_);
}

// Called by whoever has freed the slot. The select does not meet itself: it is on its way before
// its value is stored.
void SenderPlace::slot_is_free() {
  FERMATA_ASSERT(channel_->has_free_slot());
  FERMATA_ASSERT(!is_taken());
  if (!channel_->receivers_.can_grant_besides(coroutine_)) return hold_out();
  taken_ = true;
  wait().wake();
  store_(*channel_, value_);
}

void SenderPlace::hold_out() {
  FERMATA_ASSERT(channel_->is_rendezvous());
  FERMATA_ASSERT(channel_->count() == 0);
  FERMATA_ASSERT(!taker_);
  taker_.emplace(channel_->delivering_, coroutine_);
  channel_->delivery_ = value_;
}

bool SenderPlace::is_due() const noexcept {
  if (channel_->is_closed() || is_taken() || (slot_ && slot_->granted())) return true;
  return channel_->has_free_slot() && channel_->would_be_kept();
}

void SenderPlace::claim() noexcept {
  FERMATA_ASSERT(is_due());
  FERMATA_ASSERT(!is_taken());
  if (next_) next_->leave();
  if (slot_) slot_->leave();
}

}  // namespace fermata::detail
