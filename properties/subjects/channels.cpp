// SPDX-License-Identifier: Apache-2.0

// A channel of tagged values: rendezvous or buffered, sometimes guarded.

#include "fermata/sync/channel.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <optional>

#include "properties/models/channel_model.hpp"
#include "properties/scripts/law.hpp"
#include "properties/subjects/listed.hpp"

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
        capacity_(kCapacities[on.script().shape[0] % kCapacities.size()]),
        guards_(guards(on.script().shape[1])),
        channel_("subject", capacity_, guards_),
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
    look();
    stage.complain(model_.is_at_rest(figures()));
  }

  void let_go() override { close_for(CloseReason::Explicit); }

  void at_end() override {
    at_rest();
    try {
      for (;;) received(channel_.recv());
    } catch (const ChannelError& error) {
      check_end(error);
    }
    for (const auto& [actor, order] : orders_) {
      if (!order.future.is_completed()) {
        stage.complain("CHAN-12 (WAKE): a future is pending though the channel is closed");
      }
    }
    stage.complain(model_.conserved());
  }

 private:
  /// However an operation has ended, the channel has what the model has; in the middle of one it
  /// need not.
  void look() const {
    if (telling_ > 0) return;
    stage.complain(models::ChannelModel::figures_are_sound(figures()));
    stage.complain(model_.recount(figures()));
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

  // --- what the model says of a call that is about to be made ---

  [[nodiscard]] std::size_t others(const models::LineModel& line, std::size_t actor) const {
    return static_cast<std::size_t>(std::count_if(line.line().begin(), line.line().end(),
                                                  [&](std::size_t each) { return each != actor; }));
  }
  [[nodiscard]] Due due_of_send(std::size_t actor) const {
    if (reason_) return Due::Now;
    const std::size_t stored = model_.stored();
    const std::size_t senders = others(model_.senders, actor);
    if (capacity_ == 0) {
      return model_.receivers.line().empty() ? Due::Later : Due::Unknown;
    }
    if (stored >= capacity_) return Due::Later;
    return stored + senders < capacity_ ? Due::Now : Due::Unknown;
  }
  [[nodiscard]] Due due_of_receive(std::size_t actor) const {
    const std::size_t stored = model_.stored();
    if (stored > others(model_.receivers, actor)) return Due::Now;
    if (stored > 0) return Due::Unknown;
    if (reason_) return Due::Now;
    return model_.senders.line().empty() ? Due::Later : Due::Unknown;
  }

  // --- senders ---

  void send(const Cue& cue) {
    const int tag = model_.offered(cue.actor);
    model_.senders.arrived(cue.actor);
    call(
        cue, due_of_send(cue.actor), [&] { channel_.send(tag, cue.patience); },
        [&](const Ending& end) {
          if (end.returned()) moved(end.suspended);
          end.returned() ? accepted(cue.actor, tag)
                         : refused(cue.actor, tag, end.way == Way::Cancelled || end.forced());
        });
  }

  // Wherever this is done: its actor may stand in a line already.
  void try_send(const Cue& cue) {
    if (telling_ > 0) return;  // What is being sent is in the channel, and not in the model.
    const std::size_t place = new_place();
    const int tag = model_.offered(place);
    model_.senders.arrived(place);
    bool kept = false;
    try {
      kept = cue.number % 2 == 0 ? channel_.send_async(tag) : channel_.try_send(tag);
    } catch (const ChannelError&) {
      refused(place, tag, false);
      throw;
    }
    if (kept) moved(false);
    kept ? accepted(place, tag) : refused(place, tag, false);
  }

  void accepted(std::size_t place, int tag) {
    stage.complain(served(model_.senders, place));
    stage.complain(model_.accepted(tag));
  }
  void refused(std::size_t place, int tag, bool cancelled) {
    model_.senders.left(place);
    stage.complain(model_.refused(tag, cancelled));
  }

  // --- receivers ---

  void receive(const Cue& cue) {
    model_.receivers.arrived(cue.actor);
    std::optional<int> tag;
    const auto receive = [&] {
      tag = cue.number % 2 == 0 ? channel_.next(cue.patience) : channel_.recv(cue.patience);
    };
    call(cue, due_of_receive(cue.actor), receive, [&](const Ending& end) {
      if (!tag) return model_.receivers.left(cue.actor);
      moved(end.suspended);
      stage.complain(served(model_.receivers, cue.actor));
      received(*tag);
    });
    if (!tag && reason_ != CloseReason::Explicit) {
      stage.complain("CHAN-20 (ERR): an iteration ends in silence, and nobody has closed");
    }
  }

  void try_receive() {
    const std::size_t place = new_place();
    model_.receivers.arrived(place);
    std::optional<int> tag;
    try {
      tag = channel_.try_recv();
    } catch (const ChannelError&) {
      model_.receivers.left(place);
      throw;
    }
    if (!tag) return model_.receivers.left(place);
    stage.complain(served(model_.receivers, place));
    received(*tag);
  }

  void receive_later(const Cue& cue) {
    drop_future(cue);
    Order& order = orders_[cue.actor];
    order.place = new_place();
    model_.receivers.arrived(order.place);
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
    if (end.error) return model_.receivers.left(place);
    stage.complain(served(model_.receivers, place));
    received(*static_cast<int*>(end.result));
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
    if (pending) model_.receivers.left(place);
  }

  void received(int tag) {
    stage.complain(model_.received(tag, [this](std::size_t sender) {
      return sender < kFirstPlace && &stage.actor(sender) != current_runtime().current() &&
             stage.actor(sender).waker().error != nullptr;
    }));
  }

  // --- both ---

  void close(const Cue& cue) {
    close_for(cue.number == 0 ? CloseReason::Deadlock : CloseReason::Explicit);
  }
  void close_for(CloseReason reason) {
    if (!channel_.is_closed()) closed_for_ = reason;
    channel_.close(reason);
  }

  [[nodiscard]] models::Complaint served(models::LineModel& line, std::size_t place) {
    const models::Complaint complaint =
        line.served(place, [this](std::size_t other) { return sleeps(other); });
    return complaint.empty() ? complaint : "CHAN-07, " + complaint;
  }
  [[nodiscard]] bool sleeps(std::size_t place) const {
    if (place < kFirstPlace) return stage.parked(place);
    for (const auto& [actor, order] : orders_) {
      if (order.place == place) return !order.future.is_completed();
    }
    return false;
  }

  [[nodiscard]] models::ChannelFigures figures() const {
    models::ChannelFigures now;
    now.count = channel_.count();
    now.closed = channel_.is_closed();
    const int read = std::sscanf(
        channel_.info().c_str(),
        "Channel(capacity=%zu, receivers=%zu, senders=%zu, reserved=%zu/%zu)", &now.capacity,
        &now.receivers, &now.senders, &now.reserved_receivers, &now.reserved_senders);
    if (read != 5) stage.complain("ERR: " + channel_.info() + " is not what a channel says");
    return now;
  }

  [[nodiscard]] std::size_t new_place() { return kFirstPlace + places_++; }

  /// The first place in line that is not an actor's own; actors have smaller numbers.
  static constexpr std::size_t kFirstPlace = 100;

  std::size_t capacity_;
  ChannelOptions guards_;
  Channel<int> channel_;
  Instant progress_{};                     // When a value is sure to have moved.
  std::optional<CloseReason> closed_for_;  // By an actor.
  std::optional<CloseReason> reason_;      // That the channel tells.
  Subscription ending_;
  models::ChannelModel model_;
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
