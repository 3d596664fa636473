// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/channel_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "fermata/base/inlining.hpp"
#include "fermata/core/scope.hpp"
#include "fermata/core/switching.hpp"

namespace fermata::detail {

namespace {

void require_timeout(const ChannelCore& channel, const char* which, Duration timeout) {
  if (timeout >= Duration::zero()) return;
  throw UsageError(fmt::format("{}: {} of {} ns: expected zero or more", channel.label(), which,
                               timeout.count()));
}

}  // namespace

ChannelCore::ChannelCore(Runtime& runtime, Name&& name, std::size_t capacity,
                         std::size_t value_bytes, const ChannelOptions& options,
                         const SourcePlace& place)
    : Event(runtime, backend::EventKind::Plain),
      slots_(std::max<std::size_t>(capacity, 1)),
      capacity_(capacity),
      logged_(runtime.kernel().wait_log != nullptr),
      name_(std::move(name)),
      place_(place) {
  FERMATA_ASSERT(value_bytes > 0);
  const std::size_t limit = std::numeric_limits<std::ptrdiff_t>::max() / value_bytes;
  if (capacity > limit) {
    throw UsageError(fmt::format("{}: capacity {}: expected at most {}", label(), capacity, limit));
  }
  require_timeout(*this, "no_producer_timeout", options.no_producer_timeout);
  require_timeout(*this, "no_consumer_timeout", options.no_consumer_timeout);
  if (std::max(options.no_producer_timeout, options.no_consumer_timeout) > Duration::zero()) {
    guard_ = std::make_unique<ChannelGuard>(*this, options);
  }
  observe_owner();
  promise_to_tell();
}

ChannelCore::~ChannelCore() { shut(); }

std::string ChannelCore::label() const {
  return name_.empty() ? fmt::format("channel #{} created at {}", serial(), place_.text())
                       : fmt::format("channel '{}' created at {}", name_.view(), place_.text());
}

std::string ChannelCore::info() const {
  return fmt::format("Channel(capacity={}, receivers={}, senders={}, reserved={}/{})", capacity_,
                     receivers(), senders(), reserved_receivers(), reserved_senders());
}

void ChannelCore::explain_wait(backend::WaitFacts& facts, const CoroutineBase& waiter) const {
  facts.is("channel", name_.view(), &place_);
  if (is_rendezvous()) {
    facts.state("a rendezvous");
  } else if (stored_ < slots_) {
    facts.state(stored_ == 0 ? "empty" : fmt::format("{} of {}", stored_, slots_));
  } else {
    facts.state("full");
  }
  if (receivers_.has(waiter)) facts.wanted("receive");
  if (senders_.has(waiter) || delivering_.has(waiter)) facts.wanted("send");
}

void ChannelCore::observe_owner() {
  CoroutineBase* const creator = runtime().current();
  if (creator == nullptr || creator->scope().is_root()) return;
  owner_ = subscribe(creator->scope(), [this](Event& scope, const Outcome& /*outcome*/) {
    if (static_cast<ScopeBase&>(scope).is_cancelled()) close_because(CloseReason::ScopeDisposed);
  });
}

// --- closing ---

void ChannelCore::close_because(CloseReason reason, const SourcePlace* place) {
  if (is_closed()) return;
  const auto keep = Ref<Event>::share(*this);
  ChannelError error(reason);
  error.set_previous(std::make_exception_ptr(
      Error(place != nullptr ? fmt::format("{}, closed at {}", label(), place->text()) : label())));
  outcome_.error = std::make_exception_ptr(std::move(error));
  reason_ = reason;
  if (guard_ != nullptr) guard_->disarm();
  owner_.cancel();
  close();
  receivers_.fail_all(outcome_.error, false);
  delivering_.fail_all(outcome_.error, false);
  senders_.fail_all(outcome_.error, true);
  FERMATA_ASSERT(receivers_.waiting() == 0);
  FERMATA_ASSERT(delivering_.waiting() == 0);
  FERMATA_ASSERT(senders_.empty());
  notify(outcome_);
}

void ChannelCore::close_for_want_of_handles() noexcept {
  FERMATA_ASSERT(handles_ == 0);
  const auto keep = Ref<Event>::share(*this);
  try {
    close_because(CloseReason::Disposed);
  } catch (...) {
    runtime().report_unhandled(std::current_exception());
  }
}

void ChannelCore::throw_closed() const {
  FERMATA_ASSERT(is_closed());
  FERMATA_ASSERT(outcome_.error != nullptr);
  std::rethrow_exception(outcome_.error);
}

// --- waiting ---

FERMATA_HOT void ChannelCore::await_slot(const WaitOptions& options, const SourcePlace& place) {
  if (is_closed()) [[unlikely]] {
    throw_closed();
  }
  if (has_free_slot()) return;
  Waiter self(senders_);
  starvation_changed(false);
  try {
    self.park(*this, options, place);
  } catch (...) {
    slot_forfeited(self);
    throw;
  }
  FERMATA_ASSERT(stored_ + delivering_.waiting() < slots_);
  touched();
}

FERMATA_HOT void ChannelCore::await_taker(void* value, const WaitOptions& options,
                                          const SourcePlace& place) {
  FERMATA_ASSERT(is_rendezvous());
  FERMATA_ASSERT(count() == 0);
  Waiter self(delivering_);
  delivery_ = value;
  starvation_changed(false);
  try {
    self.park(*this, options, place);
  } catch (...) {
    delivery_forfeited(self);
    throw;
  }
  touched();
}

// Flat, as the next: where much is compiled together, parts of the switch would be calls.
[[gnu::flatten]] bool ChannelCore::offer(void* value, const WaitOptions& options,
                                         const SourcePlace& place) {
  FERMATA_ASSERT(value != nullptr);
  const auto keep = Ref<Event>::share(*this);
  if (!waits_plainly(options)) [[unlikely]] {
    return offer_patiently(value, options, place);
  }
  await_slot(options, place);
  if (would_be_kept()) return true;
  await_taker(value, options, place);
  return false;
}

FERMATA_COLD bool ChannelCore::offer_patiently(void* value, const WaitOptions& options,
                                               const SourcePlace& place) {
  check_token(options);
  const Deadline deadline(options);
  await_slot(options, place);
  if (would_be_kept()) return true;
  await_taker(value, deadline.remaining(), place);
  return false;
}

[[gnu::flatten]] Ref<Event> ChannelCore::await_value(const WaitOptions& options,
                                                     const SourcePlace& place) {
  if (!waits_plainly(options)) [[unlikely]] {
    check_token(options);
  }
  auto keep = Ref<Event>::share(*this);
  if (has_free_value()) return keep;
  if (is_closed()) [[unlikely]] {
    throw_closed();
  }
  Waiter self(receivers_);
  starvation_changed(false);
  try {
    self.park(*this, options, place);
  } catch (...) {
    value_forfeited(self);
    throw;
  }
  FERMATA_ASSERT(stored_ > 0);
  touched();
  return keep;
}

FERMATA_COLD void ChannelCore::slot_forfeited(Waiter& waiter) {
  touched();
  if (waiter.leave()) wake_senders();
  starvation_changed(false);
}

FERMATA_COLD void ChannelCore::value_forfeited(Waiter& waiter) {
  touched();
  if (waiter.leave() && !is_closed()) wake_receivers();
  starvation_changed(false);
}

// Who is cancelled first keeps its value: what is on its way back cannot be taken any more. Who is
// cancelled when the value has been taken learns of the cancellation all the same.
FERMATA_COLD void ChannelCore::delivery_forfeited(Waiter& waiter) {
  touched();
  const bool taken = waiter.leave();
  if (!taken) wake_senders();
  starvation_changed(false);
}

// --- promises ---

void ChannelCore::wake_receivers() {
  while (has_free_stored_value() && receivers_.grant()) continue;
}

void ChannelCore::wake_senders() {
  while (!is_closed() && has_free_slot() && senders_.grant()) continue;
}

// Who waits for a future is told, and may let go of the channel.
void ChannelCore::after_store() {
  FERMATA_ASSERT(stored_ > 0);
  runtime().kernel().log_wait(backend::WaitAct::Sent, *this, nullptr);
  const auto keep = Ref<Event>::share(*this);
  wake_receivers();
  starvation_changed(true);
}

void ChannelCore::after_take() {
  FERMATA_ASSERT(stored_ < slots_);
  runtime().kernel().log_wait(backend::WaitAct::Received, *this, nullptr);
  wake_senders();
  starvation_changed(true);
}

void* ChannelCore::accept_delivery() {
  FERMATA_ASSERT(stored_ == 0);
  FERMATA_ASSERT(delivery_ != nullptr);
  FERMATA_ASSERT(delivering_.can_grant());
  delivering_.grant();
  return std::exchange(delivery_, nullptr);
}

Starving ChannelCore::starving() const noexcept {
  if (is_closed()) return Starving::Nobody;
  if (receivers_.waiting() > 0) return Starving::Receivers;
  if (senders_.waiting() + delivering_.waiting() > 0) return Starving::Senders;
  return Starving::Nobody;
}

}  // namespace fermata::detail
