// SPDX-License-Identifier: Apache-2.0
#pragma once

// The places of a select in the lines of a channel. What such a place has been promised, and does
// not take, goes to the next one in line.

#include <optional>

#include "fermata/sync/channel_core.hpp"
#include "fermata/sync/select_wait.hpp"

namespace fermata::detail {

/// A place in the line of receivers.
class ReceiverPlace final : private SelectPlace {
 public:
  ReceiverPlace(SelectWait& wait, ChannelCore& channel);
  ~ReceiverPlace();

  /// Whether a value is there for it, or never will be, since the channel is closed.
  [[nodiscard]] bool is_due() const noexcept;
  /// Leaves the line. What it was promised must be taken before anybody else runs.
  void claim() noexcept;

 private:
  [[nodiscard]] const Event& awaited() const noexcept override { return *channel_; }
  [[nodiscard]] bool is_exclusive() const noexcept override { return channel_->capacity() == 0; }

  const Ref<ChannelCore> channel_;
  Waiter waiter_;
};

/// A place in the line of senders. At a rendezvous that is two lines: first for the only slot, then
/// with the value held out for somebody to take it. Whoever frees the slot moves the sender on, or
/// hands its value to a receiver, there and then: a select that came back for that only would be
/// passed over meanwhile wherever else it stands.
class SenderPlace final : private SelectPlace {
 public:
  /// Stores the value of an address in the channel.
  using Store = void (*)(ChannelCore& channel, void* value);

  /// `value` is moved from when somebody takes it. REQUIRES: it cannot be sent at once.
  SenderPlace(SelectWait& wait, ChannelCore& channel, void* value, Store store);
  ~SenderPlace();

  /// Whether the value can be stored, has been taken, or never will be, since the channel is
  /// closed.
  [[nodiscard]] bool is_due() const noexcept;
  /// Whether somebody has taken the value already.
  [[nodiscard]] bool is_taken() const noexcept { return taken_ || (taker_ && taker_->granted()); }
  /// Leaves the line. A slot that it was promised must be used before anybody else runs.
  void claim() noexcept;

 private:
  /// In the line for the slot of a rendezvous.
  class Next final : public Waiter {
   public:
    explicit Next(SenderPlace& place);

   private:
    static void serve(Waiter& self, const std::exception_ptr& error);
    SenderPlace& place_;
  };

  [[nodiscard]] const Event& awaited() const noexcept override { return *channel_; }
  [[nodiscard]] bool is_exclusive() const noexcept override { return channel_->capacity() == 0; }
  void slot_is_free();
  void hold_out();

  const Ref<ChannelCore> channel_;
  CoroutineBase& coroutine_;
  void* const value_;
  const Store store_;
  std::optional<Next> next_;     // Of a rendezvous.
  std::optional<Waiter> taker_;  // Likewise.
  std::optional<Waiter> slot_;   // Of a channel with room.
  bool taken_ = false;
};

}  // namespace fermata::detail
