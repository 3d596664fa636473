// SPDX-License-Identifier: Apache-2.0
#pragma once

// All of a channel that does not depend on the type of its values: who waits, who has been promised
// what, how it closes.
//
// Stored    Values in the ring, or the one of a rendezvous that is committed to a receiver.
// Delivery  At a rendezvous without a receiver: a value that is still its sender's, who waits for
//           somebody to take it. It occupies the only slot.
// Promises  A free value is one that no receiver has been granted; a free slot likewise. Newcomers
//           get what is free and nothing else (CHAN-07). Whoever frees something grants it at once,
//           so that nothing is free while somebody waits for it (CHAN-08).
// Owner     Observes the scope in which it was created, and keeps it not; the end or cancellation
//           of that scope closes it (CHAN-22). The root scope ends with the runtime.
// Waits     offer and await_value suspend; nothing else does. When they return, the caller takes
//           what it was granted before it suspends again (CHAN-05, CHAN-06). They are one function
//           each: what stands between a caller and a switch may mispredict its return.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "fermata/base/assert.hpp"
#include "fermata/base/name.hpp"
#include "fermata/base/source_place.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/channel_error.hpp"
#include "fermata/sync/channel_guard.hpp"
#include "fermata/sync/operation.hpp"
#include "fermata/sync/wait_queue.hpp"

namespace fermata::detail {

class ChannelCore : public Event {
 public:
  // --- handles ---

  void add_handle() noexcept { ++handles_; }
  /// The last one closes the channel: Disposed.
  void drop_handle() noexcept {
    if (!is_closed()) touched();
    FERMATA_ASSERT(handles_ > 0);
    if (--handles_ == 0) close_for_want_of_handles();
  }

  // --- state ---

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::size_t count() const noexcept { return stored_ + delivering_.waiting(); }
  [[nodiscard]] std::size_t receivers() const noexcept {
    return receivers_.waiting() + receivers_.granted();
  }
  [[nodiscard]] std::size_t senders() const noexcept {
    return senders_.waiting() + senders_.granted() + delivering_.waiting();
  }
  [[nodiscard]] std::size_t reserved_receivers() const noexcept { return receivers_.granted(); }
  [[nodiscard]] std::size_t reserved_senders() const noexcept { return senders_.granted(); }
  /// REQUIRES: it is closed.
  [[nodiscard]] CloseReason reason() const noexcept {
    FERMATA_ASSERT(is_closed());
    return reason_;
  }
  /// "channel 'jobs' created at file:line (function)".
  [[nodiscard]] std::string label() const;
  /// "Channel(capacity=C, receivers=R, senders=S, reserved=RR/RS)".
  [[nodiscard]] std::string info() const override;
  void explain_wait(backend::WaitFacts& facts, const CoroutineBase& waiter) const override;
  [[nodiscard]] bool lines_are_in_order() const noexcept override {
    return receivers_.is_in_order() && senders_.is_in_order() && delivering_.is_in_order();
  }
  /// The error that it was closed with.
  [[nodiscard]] const Outcome* replay() const noexcept override {
    return outcome_.error ? &outcome_ : nullptr;
  }

  /// The first reason stays (CHAN-13). Never suspends; throws what subscribers throw.
  void close_because(CloseReason reason, const SourcePlace* place = nullptr);
  /// REQUIRES: it is closed.
  [[noreturn]] void throw_closed() const;

 protected:
  ChannelCore(Runtime& runtime, Name&& name, std::size_t capacity, std::size_t value_bytes,
              const ChannelOptions& options, const SourcePlace& place);
  ~ChannelCore() override;

  /// Physical places for values: a rendezvous has one.
  [[nodiscard]] std::size_t slots() const noexcept { return slots_; }
  [[nodiscard]] bool is_rendezvous() const noexcept { return capacity_ == 0; }

  // --- what a newcomer finds ---

  [[nodiscard]] bool has_free_stored_value() const noexcept {
    return stored_ > receivers_.granted();
  }
  [[nodiscard]] bool has_free_value() const noexcept {
    return has_free_stored_value() || delivering_.can_grant();
  }
  [[nodiscard]] bool has_free_slot() const noexcept {
    return slots_ - stored_ - delivering_.waiting() > senders_.granted();
  }
  /// Whether a value that is put in now has a taker, who need not be there yet if there is room.
  [[nodiscard]] bool would_be_kept() const noexcept {
    return !is_rendezvous() || receivers_.can_grant();
  }

  // --- waiting ---

  /// Waits until a slot is the caller's, who stores its value then. At a rendezvous without a
  /// receiver: false, when somebody has come and taken the one at `value`. Throws ChannelError when
  /// the channel is closed, and what waits throw; what was granted by then is handed on.
  [[nodiscard]] bool offer(void* value, const WaitOptions& options, const SourcePlace& place);
  /// Waits until a value is the caller's; returns what keeps the channel until it has been taken.
  [[nodiscard]] Ref<Event> await_value(const WaitOptions& options, const SourcePlace& place);

  /// Where somebody may stand who does not suspend, and says so when that has changed.
  [[nodiscard]] WaitQueue& receiver_queue() noexcept { return receivers_; }
  void receivers_changed() {
    touched();
    starvation_changed(false);
  }

  // --- values ---

  /// A value has been stored: it is promised to the oldest receiver.
  void value_stored() {
    FERMATA_ASSERT(stored_ < slots_);
    ++stored_;
    if (receivers_.waiting() > 0 || guard_ != nullptr || logged_) [[unlikely]] {
      after_store();
    }
  }
  /// A value has left the store: its slot is promised to the oldest sender.
  void value_taken() {
    FERMATA_ASSERT(stored_ > 0);
    --stored_;
    if (senders_.waiting() > 0 || guard_ != nullptr || logged_) [[unlikely]] {
      after_take();
    }
  }
  /// The value of the sender that is delivering, who has succeeded now. REQUIRES: has_free_value,
  /// and none is stored.
  [[nodiscard]] void* accept_delivery();
  /// The caller has taken it.
  void delivery_taken() {
    if (senders_.waiting() > 0 || guard_ != nullptr || logged_) [[unlikely]] {
      after_take();
    }
  }

  [[nodiscard]] std::size_t stored() const noexcept { return stored_; }

 private:
  friend struct DebuggerNames;
  friend class ReceiverPlace;
  friend class SenderPlace;

  bool offer_patiently(void* value, const WaitOptions& options, const SourcePlace& place);
  void await_slot(const WaitOptions& options, const SourcePlace& place);
  void await_taker(void* value, const WaitOptions& options, const SourcePlace& place);
  void slot_forfeited(Waiter& waiter);
  void value_forfeited(Waiter& waiter);
  void delivery_forfeited(Waiter& waiter);
  void wake_receivers();
  void wake_senders();
  void after_store();
  void after_take();
  void starvation_changed(bool progress) {
    if (guard_ != nullptr) guard_->update(starving(), progress);
  }
  [[nodiscard]] Starving starving() const noexcept;
  void close_for_want_of_handles() noexcept;
  void observe_owner();

  std::size_t stored_ = 0;
  std::size_t slots_;
  std::size_t capacity_;
  std::unique_ptr<ChannelGuard> guard_;  // Null without timeouts.
  WaitQueue receivers_;
  WaitQueue senders_;     // For a slot.
  WaitQueue delivering_;  // The one whose value can be taken; those whose value has been.
  void* delivery_ = nullptr;
  std::uint32_t handles_ = 0;
  CloseReason reason_ = CloseReason::Explicit;
  bool logged_;      // Somebody keeps a log of who sends and receives.
  Outcome outcome_;  // Valid once closed.
  Name name_;
  SourcePlace place_;
  Subscription owner_;  // To the scope of the coroutine that created it.
};

}  // namespace fermata::detail
