// SPDX-License-Identifier: Apache-2.0

// Selects over two channels, beside those who send to one and receive from one.

#include "fermata/sync/select.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>

#include "properties/scripts/law.hpp"
#include "properties/subjects/watched_channel.hpp"

namespace fermata::properties {
namespace {
namespace selects {

using std::chrono::milliseconds;

constexpr std::array<std::size_t, 8> kCapacities = {0, 0, 1, 0, 1, 2, 3, 1};

class Selects final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {6, "receive from either", does<&Selects::receive_from_either>},
        {5, "send to one, or receive from the other", does<&Selects::send_or_receive>},
        {3, "send to either", does<&Selects::send_to_either>},
        {5, "send", does<&Selects::send>},
        {4, "receive", does<&Selects::receive>},
        {1, "close", does<&Selects::close>, true},
    });
  }

  explicit Selects(Stage& on)
      : Subject(on),
        sides_{{WatchedChannel(on, "left", kCapacities[on.script().shape[0]]),
                WatchedChannel(on, "right", kCapacities[on.script().shape[1]])}} {}

  void perform(const Operation& operation, const Cue& cue) override {
    try {
      Subject::perform(operation, cue);
    } catch (const ChannelError&) {
      // A send to a channel that is closed, or closes.
    } catch (const ForcedUnwind&) {
      throw;
    } catch (...) {
      look();
      throw;
    }
    look();
  }

  void at_rest() override {
    for (const WatchedChannel& side : sides_) side.at_rest();
  }
  void let_go() override {
    for (const WatchedChannel& side : sides_) side.channel().close();
  }
  void at_end() override {
    for (WatchedChannel& side : sides_) side.at_end();
  }

 private:
  /// What the chosen branch of a select has come to.
  struct Chosen {
    WatchedChannel* side = nullptr;  // Null when no channel's branch was chosen.
    std::optional<int> received;
  };

  [[nodiscard]] WatchedChannel& one(const Cue& cue) { return sides_[cue.number % 2]; }
  [[nodiscard]] WatchedChannel& other(const Cue& cue) { return sides_[1 - cue.number % 2]; }
  [[nodiscard]] static SelectOptions options(const Cue& cue) {
    return {.order = cue.number / 2 % 2 == 0 ? SelectOrder::Listed : SelectOrder::Drawn,
            .timeout = cue.patience.timeout,
            .token = cue.patience.token};
  }
  /// Half of the selects give up by a branch of their own.
  [[nodiscard]] static Duration time(const Cue& cue) {
    return cue.number < 8 ? Duration(milliseconds(cue.number)) + milliseconds(1)
                          : Duration(std::chrono::hours(1));
  }
  [[nodiscard]] static Due due_of(Due first, Due second) {
    if (first == Due::Now || second == Due::Now) return Due::Now;
    return first == second ? first : Due::Unknown;
  }
  [[nodiscard]] auto receiving(WatchedChannel& side, Chosen& chosen) {
    return [&side, &chosen](std::optional<int> value) { chosen = {&side, value}; };
  }
  [[nodiscard]] auto sending(WatchedChannel& side, Chosen& chosen) {
    return [&side, &chosen] { chosen = {&side, std::nullopt}; };
  }

  void receive_from_either(const Cue& cue) {
    WatchedChannel& a = one(cue);
    WatchedChannel& b = other(cue);
    Chosen chosen;
    for (WatchedChannel* side : {&a, &b}) side->model().receivers.arrived(cue.actor);
    call(
        cue, due_of(a.due_of_receive(cue.actor), b.due_of_receive(cue.actor)),
        [&] {
          select(options(cue), on_receive(a.channel(), receiving(a, chosen)),
                 on_receive(b.channel(), receiving(b, chosen)), on_timeout(time(cue), [] {}));
        },
        [&](const Ending&) {
          for (WatchedChannel* side : {&a, &b}) settle_receive(*side, chosen, cue.actor);
        });
  }

  void send_or_receive(const Cue& cue) {
    WatchedChannel& out = one(cue);
    WatchedChannel& in = other(cue);
    Chosen chosen;
    const int tag = out.offered_by_select(cue.actor);
    int value = tag;
    out.model().senders.arrived(cue.actor);
    in.model().receivers.arrived(cue.actor);
    call(
        cue, due_of(out.due_of_send(cue.actor), in.due_of_receive(cue.actor)),
        [&] {
          select(options(cue), on_send(out.channel(), std::move(value), sending(out, chosen)),
                 on_receive(in.channel(), receiving(in, chosen)), on_timeout(time(cue), [] {}));
        },
        [&](const Ending& end) {
          settle_send(out, chosen, cue.actor, tag, end);
          settle_receive(in, chosen, cue.actor);
        });
  }

  void send_to_either(const Cue& cue) {
    WatchedChannel& a = one(cue);
    WatchedChannel& b = other(cue);
    Chosen chosen;
    std::array<int, 2> tags{};
    for (std::size_t i = 0; i < 2; ++i) {
      WatchedChannel& side = i == 0 ? a : b;
      tags[i] = side.offered_by_select(cue.actor);
      side.model().senders.arrived(cue.actor);
    }
    std::array<int, 2> values = tags;
    call(
        cue, due_of(a.due_of_send(cue.actor), b.due_of_send(cue.actor)),
        [&] {
          select(options(cue), on_send(a.channel(), std::move(values[0]), sending(a, chosen)),
                 on_send(b.channel(), std::move(values[1]), sending(b, chosen)),
                 on_timeout(time(cue), [] {}));
        },
        [&](const Ending& end) {
          settle_send(a, chosen, cue.actor, tags[0], end);
          settle_send(b, chosen, cue.actor, tags[1], end);
        });
  }

  void send(const Cue& cue) {
    WatchedChannel& side = one(cue);
    const int tag = side.model().offered(cue.actor);
    side.model().senders.arrived(cue.actor);
    Chosen chosen;
    call(
        cue, side.due_of_send(cue.actor), [&] { side.channel().send(tag, cue.patience); },
        [&](const Ending& end) {
          if (end.returned()) chosen.side = &side;
          settle_send(side, chosen, cue.actor, tag, end);
        });
  }

  void receive(const Cue& cue) {
    WatchedChannel& side = one(cue);
    side.model().receivers.arrived(cue.actor);
    Chosen chosen;
    call(
        cue, side.due_of_receive(cue.actor),
        [&] {
          chosen = {&side, side.channel().next(cue.patience)};
        },
        [&](const Ending&) { settle_receive(side, chosen, cue.actor); });
  }

  void settle_receive(WatchedChannel& side, const Chosen& chosen, std::size_t actor) {
    if (chosen.side != &side || !chosen.received) return side.model().receivers.left(actor);
    side.served_receiver(actor, *chosen.received);
  }
  void settle_send(WatchedChannel& side, const Chosen& chosen, std::size_t actor, int tag,
                   const Ending& end) {
    if (chosen.side == &side) return side.accepted(actor, tag);
    side.refused(actor, tag, end.way == Way::Cancelled || end.forced());
  }

  void close(const Cue& cue) { one(cue).channel().close(); }
  void look() const {
    for (const WatchedChannel& side : sides_) side.look();
  }

  std::array<WatchedChannel, 2> sides_;
};

}  // namespace selects
}  // namespace

constinit const Law kSelects = {
    "selects",
    "a select takes one thing and leaves the others, and stands in each line as others do",
    {"CHAN-01", "CHAN-02", "CHAN-03", "CHAN-04", "CHAN-07", "CHAN-08", "CHAN-09", "CHAN-11",
     "CHAN-12", "CHAN-14", "CHAN-15"},
    &scripts_over<selects::Selects>};

}  // namespace fermata::properties
