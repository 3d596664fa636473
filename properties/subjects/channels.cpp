// SPDX-License-Identifier: Apache-2.0

// A channel of tagged values: rendezvous or buffered, sometimes guarded.

#include "fermata/sync/channel.hpp"

#include <array>
#include <map>
#include <optional>

#include "properties/scripts/law.hpp"
#include "properties/subjects/listed.hpp"
#include "properties/subjects/watched_channel.hpp"

namespace fermata::properties {
namespace {
namespace channels {

using std::chrono::milliseconds;

constexpr std::array<std::size_t, 8> kCapacities = {0, 0, 0, 1, 1, 2, 3, 5};

ChannelOptions guards(std::uint8_t number) {
  ChannelOptions options;
  if (number % 4 == 3) options.no_producer_timeout = milliseconds(25);
  if (number > 5) options.no_consumer_timeout = milliseconds(25);
  options.hard_timeouts = number == 7;
  return options;
}

class Channels final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {10, "send", does<&Channels::send>},
        {10, "receive", does<&Channels::receive>},
        {2, "try to send", does<&Channels::try_send>, true},
        {2, "try to receive", does<&Channels::try_receive>, true},
        {3, "receive into a future", does<&Channels::receive_later>},
        {3, "take the future", does<&Channels::take_future>},
        {2, "drop the future", does<&Channels::drop_future>},
        {1, "close", does<&Channels::close>, true},
    });
  }

  explicit Channels(Stage& on)
      : Subject(on),
        guards_(guards(on.script().shape[1])),
        watched_(on, "subject", kCapacities[on.script().shape[0] % kCapacities.size()], guards_,
                 [this](std::size_t place) { return sleeps(place); }),
        ending_(subscribe(channel_.event(), [this](Event&, const Outcome& end) {
          reason_ = reason_of(end.error);
          if (!is_explained(*reason_)) {
            stage.complain(std::string("CHAN-18 (ERR): nobody has reason to say: ") +
                           to_string(*reason_));
          }
        })) {}

  void perform(const Operation& operation, const Cue& cue) override {
    try {
      Subject::perform(operation, cue);
    } catch (const ChannelError& error) {
      check_end(error);
    } catch (const ForcedUnwind&) {
      throw;
    } catch (...) {
      look();
      throw;
    }
    look();
  }

  void at_rest() override {
    if (telling_ == 0) watched_.at_rest();
  }

  void let_go() override { close_for(CloseReason::Explicit); }

  void at_end() override {
    at_rest();
    watched_.at_end();
    try {
      static_cast<void>(channel_.try_recv());
    } catch (const ChannelError& error) {
      check_end(error);
    }
    for (const auto& [actor, order] : orders_) {
      if (!order.future.is_completed()) {
        stage.complain("CHAN-12 (WAKE): a future is pending though the channel is closed");
      }
    }
  }

 private:
  /// However an operation has ended, the channel has what the model has; in the middle of one it
  /// need not.
  void look() const {
    if (telling_ == 0) watched_.look();
  }

  /// A future that an actor has got, and its place in the line of receivers.
  struct Order {
    std::size_t place = 0;
    Future<int> future;
    Subscription arrival;
  };

  [[nodiscard]] static CloseReason reason_of(const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const ChannelError& closed) {
      return closed.reason();
    }
  }

  /// Whether there is a cause for the channel to end so now.
  [[nodiscard]] bool is_explained(CloseReason reason) const {
    if (closed_for_) return reason == *closed_for_;
    const auto has_starved = [&](Duration patience) {
      return patience > Duration::zero() && now() >= progress_ + patience;
    };
    switch (reason) {
      case CloseReason::NoProducers:
        return has_starved(guards_.no_producer_timeout);
      case CloseReason::NoConsumers:
        return has_starved(guards_.no_consumer_timeout);
      case CloseReason::Deadlock:
        return !guards_.hard_timeouts &&
               guards_.no_producer_timeout + guards_.no_consumer_timeout > Duration::zero();
      default:
        return false;
    }
  }

  /// A value has moved in a call, now unless that was suspended.
  void moved(bool suspended) {
    if (!suspended) progress_ = now();
  }

  void check_end(const ChannelError& error) {
    if (!channel_.is_closed()) {
      stage.complain("CHAN-12 (ERR): an open channel says that it is closed");
    } else if (reason_ && error.reason() != *reason_) {
      stage.complain("CHAN-13 (ERR): the reason of a close has changed");
    }
  }

  // --- senders ---

  void send(const Cue& cue) {
    const int tag = watched_.model().offered(cue.actor);
    watched_.model().senders.arrived(cue.actor);
    call(
        cue, watched_.due_of_send(cue.actor), [&] { channel_.send(tag, cue.patience); },
        [&](const Ending& end) {
          if (end.returned()) moved(end.suspended);
          end.returned()
              ? watched_.accepted(cue.actor, tag)
              : watched_.refused(cue.actor, tag, end.way == Way::Cancelled || end.forced());
        });
  }

  // Wherever this is done: its actor may stand in a line already.
  void try_send(const Cue&) {
    if (telling_ > 0) return;  // What is being sent is in the channel, and not in the model.
    const std::size_t place = new_place();
    const int tag = watched_.model().offered(place);
    watched_.model().senders.arrived(place);
    bool kept = false;
    try {
      kept = channel_.try_send(tag);
    } catch (const ChannelError&) {
      watched_.refused(place, tag, false);
      throw;
    }
    if (kept) moved(false);
    kept ? watched_.accepted(place, tag) : watched_.refused(place, tag, false);
  }

  // --- receivers ---

  void receive(const Cue& cue) {
    watched_.model().receivers.arrived(cue.actor);
    std::optional<int> tag;
    const auto receive = [&] {
      tag = cue.number % 2 == 0 ? channel_.next(cue.patience) : channel_.recv(cue.patience);
    };
    call(cue, watched_.due_of_receive(cue.actor), receive, [&](const Ending& end) {
      if (!tag) return watched_.model().receivers.left(cue.actor);
      moved(end.suspended);
      watched_.served_receiver(cue.actor, *tag);
    });
    if (!tag && reason_ != CloseReason::Explicit) {
      stage.complain("CHAN-20 (ERR): an iteration ends in silence, and nobody has closed");
    }
  }

  void try_receive() {
    const std::size_t place = new_place();
    watched_.model().receivers.arrived(place);
    std::optional<int> tag;
    try {
      tag = channel_.try_recv();
    } catch (const ChannelError&) {
      watched_.model().receivers.left(place);
      throw;
    }
    if (!tag) return watched_.model().receivers.left(place);
    watched_.served_receiver(place, *tag);
  }

  void receive_later(const Cue& cue) {
    drop_future(cue);
    Order& order = orders_[cue.actor];
    order.place = new_place();
    watched_.model().receivers.arrived(order.place);
    order.future = channel_.recv_async();
    order.future.ignore();
    order.arrival = subscribe(order.future.event(),
                              [this, cue, place = order.place](Event&, const Outcome& end) {
                                arrived(place, end);
                                const Counted telling(telling_);
                                if (cue.number % 2 == 1) stage.react(cue);
                              });
  }
  void arrived(std::size_t place, const Outcome& end) {
    if (end.error) return watched_.model().receivers.left(place);
    watched_.served_receiver(place, *static_cast<int*>(end.result));
  }

  void take_future(const Cue& cue) {
    const auto order = orders_.find(cue.actor);
    if (order == orders_.end()) return;
    const Future<int> future = order->second.future;
    await(future, cue.patience);
  }

  void drop_future(const Cue& cue) {
    const auto order = orders_.find(cue.actor);
    if (order == orders_.end()) return;
    const bool pending = !order->second.future.is_completed();
    const std::size_t place = order->second.place;
    orders_.erase(order);
    if (pending) watched_.model().receivers.left(place);
  }

  // --- both ---

  void close(const Cue& cue) {
    close_for(cue.number == 0 ? CloseReason::Deadlock : CloseReason::Explicit);
  }
  void close_for(CloseReason reason) {
    if (!channel_.is_closed()) closed_for_ = reason;
    channel_.close(reason);
  }

  [[nodiscard]] bool sleeps(std::size_t place) const {
    for (const auto& [actor, order] : orders_) {
      if (order.place == place) return !order.future.is_completed();
    }
    return false;
  }

  [[nodiscard]] std::size_t new_place() { return WatchedChannel::kFirstPlace + places_++; }

  ChannelOptions guards_;
  WatchedChannel watched_;
  const Channel<int>& channel_ = watched_.channel();
  Instant progress_{};                     // When a value is sure to have moved.
  std::optional<CloseReason> closed_for_;  // By an actor.
  std::optional<CloseReason> reason_;      // That the channel tells.
  Subscription ending_;
  std::map<std::size_t, Order> orders_;  // By actor.
  std::size_t places_ = 0;
  std::size_t telling_ = 0;  // Calls that are telling a future.
};

}  // namespace channels
}  // namespace

constinit const Law kChannels = {
    "channels",
    "every accepted value arrives once and in order, and nobody sleeps beside what it waits for",
    {"CORE-GL-08", "G-03",    "G-04",    "G-06",    "CHAN-01", "CHAN-02", "CHAN-03",
     "CHAN-04",    "CHAN-07", "CHAN-08", "CHAN-09", "CHAN-11", "CHAN-12", "CHAN-13",
     "CHAN-14",    "CHAN-15", "CHAN-16", "CHAN-17", "CHAN-18", "CHAN-20"},
    &scripts_over<channels::Channels>};

}  // namespace fermata::properties
