// SPDX-License-Identifier: Apache-2.0
#pragma once

// A queue between coroutines.
//
//   fermata::Channel<Job> jobs("jobs", 16);
//   fermata::spawn([jobs] { for (Job& job : jobs) job.run(); });
//   jobs.send(job);
//   jobs.close();
//
// Handles    A Channel is a handle: copies are the same channel, and those who use it keep it. When
//            the last handle goes the channel closes (Disposed), and who still waits fails.
// Capacity   Up to so many values wait for a receiver. At 0 send and recv meet: send returns when a
//            receiver has been given the value, or promised it.
// Order      Values arrive in the order in which they were accepted (CHAN-02). On each side first
//            come, first served: who has waited is promised a value or a slot, and no newcomer
//            takes what was promised (CHAN-07).
// Waiting    send, recv, next and iteration suspend; options as of every wait. What a waiter that
//            was cancelled or timed out had been promised goes to the next one (CHAN-09). Nothing
//            that starts with try_ or ends in _async suspends.
// Values     Need to move without throwing, nothing more. send moves from its argument exactly
//            when the channel accepts the value: after an error it is still the caller's. Only a
//            cancellation of a rendezvous proves nothing: it may come after the value was taken.
// Closing    What is in the channel can still be received; then ChannelError, which says why. Its
//            texts are those of CloseReason; its previous names the channel.
// Scope      It observes the scope of its creator; when that is cancelled or ends, the channel
//            closes (CHAN-22).
// Event      Completes when the channel closes, with the ChannelError.
// Cost       Nothing allocates after the construction, but for futures in blocks of the runtime.
// Source     CHAN-01 to 22.

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "fermata/base/given_name.hpp"
#include "fermata/base/inlining.hpp"
#include "fermata/sync/channel_core.hpp"
#include "fermata/sync/channel_future.hpp"
#include "fermata/sync/ring.hpp"

namespace fermata {

template <class T>
class Channel;

namespace detail {

template <class T>
class ChannelOf final : public ChannelCore {
 public:
  ChannelOf(Runtime& runtime, Name&& name, std::size_t capacity, const ChannelOptions& options,
            const SourcePlace& place)
      : ChannelCore(runtime, std::move(name), capacity, sizeof(T), options, place),
        ring_(slots()) {}
  ~ChannelOf() override {
    for (std::size_t left = stored(); left > 0; --left) static_cast<void>(ring_.pop());
  }

  FERMATA_HOT void send(T&& value, const WaitOptions& options, const SourcePlace& place) {
    const bool at_once =
        waits_plainly(options) && !is_closed() && has_free_slot() && would_be_kept();
    if (at_once || offer(&value, options, place)) store(std::move(value));
  }

  [[nodiscard]] FERMATA_HOT T recv(const WaitOptions& options, const SourcePlace& place) {
    Ref<Event> keep;
    if (!waits_plainly(options) || !has_free_value()) keep = await_value(options, place);
    return take();
  }

  [[nodiscard]] bool try_send(T&& value) {
    if (is_closed() || !has_free_slot() || !would_be_kept()) return false;
    store(std::move(value));
    return true;
  }

  /// Stores the value at an address in `channel`, which is one of T. REQUIRES: it has a free slot.
  static void store_from(ChannelCore& channel, void* value) {
    FERMATA_ASSERT(value != nullptr);
    FERMATA_ASSERT(static_cast<ChannelOf&>(channel).has_free_slot());
    static_cast<ChannelOf&>(channel).store(std::move(*static_cast<T*>(value)));
  }

  [[nodiscard]] std::optional<T> try_recv() {
    if (has_free_value()) return take();
    if (is_closed()) throw_closed();
    return std::nullopt;
  }

  [[nodiscard]] Future<T> recv_async(const SourcePlace& place) {
    if (has_free_value()) return Future<T>::completed(take(), place);
    if (is_closed()) return Future<T>::failed(replay()->error, place);
    return FutureReceiver<T, ChannelOf>::join(*this, place);
  }

  [[nodiscard]] bool has_value_now() const noexcept { return has_free_value(); }
  /// REQUIRES: has_value_now().
  [[nodiscard]] T take_now() {
    FERMATA_ASSERT(has_free_value());
    return take();
  }
  /// Whether recv() would answer at once, with a value or an error.
  [[nodiscard]] bool can_receive_or_fail() const noexcept {
    return has_free_value() || is_closed();
  }
  /// Whether send() would.
  [[nodiscard]] bool can_send_or_fail() const noexcept {
    return is_closed() || (has_free_slot() && would_be_kept());
  }

  [[nodiscard]] std::optional<T> next(const WaitOptions& options, const SourcePlace& place) {
    try {
      return recv(options, place);
    } catch (const ChannelError& error) {
      if (error.reason() != CloseReason::Explicit) throw;
      return std::nullopt;
    }
  }

 private:
  friend class FutureReceiver<T, ChannelOf>;

  void store(T&& value) {
    ring_.push(std::move(value));
    value_stored();
  }

  [[nodiscard]] T take() {
    if (stored() > 0) return take_stored();
    T value(std::move(*static_cast<T*>(accept_delivery())));
    delivery_taken();
    return value;
  }

  [[nodiscard]] T take_stored() {
    T value(ring_.pop());
    value_taken();
    return value;
  }

  Ring<T> ring_;
};

template <class T>
ChannelOf<T>& core_of(const Channel<T>& channel);

}  // namespace detail

template <class T>
class Channel {
  static_assert(std::is_object_v<T>, "Channel: the values must be objects, not references or void");

 public:
  using Value = T;

  /// No channel: it can be assigned to, and destroyed; everything else throws UsageError.
  Channel() noexcept = default;

  /// `name` may be empty. Belongs to the runtime that is running, which must outlive it. Throws
  /// UsageError on a negative timeout and on a capacity that no memory can have.
  Channel(backend::GivenName name, std::size_t capacity, const ChannelOptions& options = {},
          SourcePlace place = SourcePlace::current())
      : core_(Ref<Core>::adopt(
            *new Core(current_runtime(), std::move(name), capacity, options, place))) {
    core_->add_handle();
  }
  Channel(const Channel& other) noexcept : core_(other.core_) {
    if (core_) core_->add_handle();
  }
  Channel(Channel&& other) noexcept = default;
  Channel& operator=(Channel other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~Channel() {
    if (core_) core_->drop_handle();
  }
  explicit operator bool() const noexcept { return static_cast<bool>(core_); }
  /// Whether both are handles of the same channel.
  friend bool operator==(const Channel& a, const Channel& b) noexcept {
    return a.core_.get() == b.core_.get();
  }

  // --- may suspend ---

  /// Puts `value` in. Throws ChannelError when the channel is closed, or closes before the value
  /// was accepted; what waits throw.
  FERMATA_HOT void send(T&& value, const WaitOptions& options = {},
                        SourcePlace place = SourcePlace::current()) const {
    core().send(std::move(value), options, place);
  }
  FERMATA_HOT void send(const T& value, const WaitOptions& options = {},
                        SourcePlace place = SourcePlace::current()) const {
    core().send(T(value), options, place);
  }

  /// The oldest value. Throws ChannelError when the channel is closed and empty; what waits throw.
  [[nodiscard]] FERMATA_HOT T recv(const WaitOptions& options = {},
                                   SourcePlace place = SourcePlace::current()) const {
    return core().recv(options, place);
  }

  /// Receives the next value; nothing when close() was called and all values have been received
  /// (CHAN-20). Any other end throws.
  [[nodiscard]] std::optional<T> next(const WaitOptions& options = {},
                                      SourcePlace place = SourcePlace::current()) const {
    return core().next(options, place);
  }

  class Iterator;
  /// `for (T& value : channel)` receives until next() gives nothing.
  [[nodiscard]] Iterator begin() const { return Iterator(*this); }
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

  // --- never suspends ---

  /// False when there is no free slot; at capacity 0, when no receiver waits. Then `value` is as it
  /// was; a value that was accepted is received, or can be (CHAN-16). Throws ChannelError when the
  /// channel is closed.
  [[nodiscard]] bool try_send(T&& value) const {
    if (core().is_closed()) core().throw_closed();
    return core().try_send(std::move(value));
  }
  [[nodiscard]] bool try_send(const T& value) const { return try_send(T(value)); }

  /// Nothing when there is no free value. Throws ChannelError when the channel is closed and empty.
  [[nodiscard]] std::optional<T> try_recv() const { return core().try_recv(); }

  /// A future of the oldest value: complete when there is a free one, else when the turn has come;
  /// it waits in line with those who suspend. Fails with ChannelError when the channel is closed
  /// and empty. Dropping or cancelling the future leaves the line (CHAN-17).
  [[nodiscard]] Future<T> recv_async(SourcePlace place = SourcePlace::current()) const {
    return core().recv_async(place);
  }

  /// Receivers that have been promised nothing fail, then all senders; what is in the channel stays
  /// receivable. The first reason stays. Throws what subscribers of the event throw.
  void close(CloseReason reason = CloseReason::Explicit,
             SourcePlace place = SourcePlace::current()) const {
    core().close_because(reason, &place);
  }
  [[nodiscard]] bool is_closed() const { return core().is_closed(); }

  // --- observers; reservations are ignored ---

  [[nodiscard]] std::size_t capacity() const { return core().capacity(); }
  /// Values in the channel, with the one that a sender holds out at a rendezvous.
  [[nodiscard]] std::size_t count() const { return core().count(); }
  [[nodiscard]] bool is_empty() const { return count() == 0; }
  /// Whether no slot is left; not the opposite of what try_send says.
  [[nodiscard]] bool is_full() const { return count() == std::max<std::size_t>(capacity(), 1); }
  /// "Channel(capacity=C, receivers=R, senders=S, reserved=RR/RS)": who waits, and how many of them
  /// have been promised something.
  [[nodiscard]] std::string info() const { return core().info(); }
  /// "channel 'jobs' created at file:line (function)".
  [[nodiscard]] std::string label() const { return core().label(); }

  /// Completes when the channel closes.
  [[nodiscard]] Event& event() const { return core(); }

 private:
  using Core = detail::ChannelOf<T>;
  friend Core& detail::core_of<T>(const Channel& channel);

  [[nodiscard]] Core& core() const {
    FERMATA_REQUIRE(core_.get() != nullptr, "the channel is an empty handle");
    core_->touched();
    return *core_;
  }

  Ref<Core> core_;
};

/// The channel itself, for what waits for it and for other things too.
template <class T>
detail::ChannelOf<T>& detail::core_of(const Channel<T>& channel) {
  return channel.core();
}

/// Receives; its copies would be other receivers, so there are none.
template <class T>
class Channel<T>::Iterator {
 public:
  using value_type = T;
  using difference_type = std::ptrdiff_t;

  explicit Iterator(const Channel& channel) : channel_(channel), value_(channel_.next()) {}
  Iterator(Iterator&&) = default;
  Iterator& operator=(Iterator&&) = default;

  [[nodiscard]] T& operator*() const noexcept { return *value_; }
  Iterator& operator++() {
    value_.reset();
    value_ = channel_.next();
    return *this;
  }
  void operator++(int) { ++*this; }
  [[nodiscard]] bool operator==(std::default_sentinel_t) const noexcept { return !value_; }

 private:
  Channel channel_;
  mutable std::optional<T> value_;
};

}  // namespace fermata
