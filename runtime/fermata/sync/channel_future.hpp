// SPDX-License-Identifier: Apache-2.0
#pragma once

// A receiver that does not suspend: it stands in line for a future. It belongs to the future, and
// leaves the line when the future is cancelled or dropped (CHAN-17).

#include "fermata/sync/channel_core.hpp"
#include "fermata/sync/future.hpp"

namespace fermata::detail {

/// `Channel` is a ChannelCore whose `take()` gives a T.
template <class T, class Channel>
class FutureReceiver final : private backend::Callback, private Waiter {
 public:
  /// Joins the line. The channel outlives whoever stands there.
  [[nodiscard]] static Future<T> join(Channel& channel, const SourcePlace& place) {
    Runtime& runtime = channel.runtime();
    auto future = FutureCore<T>::make(runtime, {}, place);
    future->add_writer();
    future->add_callback(make_block<FutureReceiver>(runtime, channel, *future));
    channel.receivers_changed();
    return Future<T>(std::move(future));
  }

  FutureReceiver(Channel& channel, FutureCore<T>& future)
      : Waiter(channel.receiver_queue(), &serve), channel_(channel), future_(future) {}

 private:
  static void serve(Waiter& self, const std::exception_ptr& error) {
    auto& me = static_cast<FutureReceiver&>(self);
    const auto future = Ref<FutureCore<T>>::share(me.future_);
    void* const value = error ? nullptr : future->store(me.channel_.take());
    future->settle({value, error}, future->created_place());
  }

  /// The future is complete, whoever completed it.
  void run(Event& /*future*/, const Outcome& /*outcome*/) override { withdraw(); }
  void withdraw() noexcept {
    if (!in_line()) return;
    leave();
    channel_.receivers_changed();
  }
  void destroy() noexcept override {
    withdraw();
    BlockPool& blocks = future_.runtime().blocks();
    this->~FutureReceiver();
    blocks.release(this, sizeof(FutureReceiver));
  }

  Channel& channel_;
  FutureCore<T>& future_;
};

}  // namespace fermata::detail
