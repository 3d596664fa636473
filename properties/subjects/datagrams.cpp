// SPDX-License-Identifier: Apache-2.0

// Sockets for datagrams on one machine, and another machine that sends everything back.

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <vector>

#include "fermata/io/udp.hpp"
#include "fermata/runtime.hpp"
#include "properties/models/datagram_model.hpp"
#include "properties/models/line_model.hpp"
#include "properties/scripts/law.hpp"

namespace fermata::properties {
namespace {
namespace datagrams {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint16_t kFirstPort = 5000;
constexpr std::uint16_t kMirrorPort = 7;
constexpr std::array<std::size_t, 5> kSizes = {2, 0, 11, 300, 1400};

/// Sends everything back to where it came from.
void mirror() {
  auto socket = UdpSocket::bind(Address("0.0.0.0", kMirrorPort));
  std::vector<std::byte> buffer(2'000);
  for (;;) {
    const Datagram got = socket.receive(buffer);
    socket.send_to(std::span(buffer).first(got.size), got.peer);
  }
}

struct Socket {
  explicit Socket(const Address& address) : socket(UdpSocket::bind(address)) {}

  UdpSocket socket;
  models::LineModel readers;
  bool one_at_a_time = true;  // And none of its readers was interrupted.
};

class Datagrams final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {10, "send", does<&Datagrams::send, true>},
        {3, "try to send", does<&Datagrams::send, false>},
        {10, "receive", does<&Datagrams::receive>},
        {1, "close", does<&Datagrams::close_early>},
    });
  }

  explicit Datagrams(Stage& on)
      : Subject(on),
        mirror_(on.world().service("mirror", &mirror).may_pause().address(kMirrorPort)) {
    const std::size_t count = 1 + on.script().shape[0] % 3u;
    for (std::size_t i = 0; i < count; ++i) {
      sockets_.emplace_back(Address("0.0.0.0", static_cast<std::uint16_t>(kFirstPort + i)));
    }
    delay(milliseconds(1));
  }

  void perform(const Operation& operation, const Cue& cue) override {
    if (is_ending) return;
    try {
      Subject::perform(operation, cue);
    } catch (const InputOutputError& error) {
      const bool is_closed = !sockets_[place_of(cue)].socket.is_open();
      if (!is_closed || error.code() != 0) {
        stage.complain(fmt::format("ERR: {} socket says {}", is_closed ? "a closed" : "an open",
                                   error.what()));
      }
    }
  }

  void at_rest() override {
    for (const Socket& each : sockets_) {
      for (const std::size_t reader : each.readers.line()) {
        if (!each.socket.is_open() && stage.parked(reader)) {
          stage.complain("IO-06 (WAKE): a reader sleeps at a closed socket");
        }
      }
    }
  }

  void let_go() override {
    is_ending = true;
    for (std::size_t here = 0; here < sockets_.size(); ++here) {
      if (!sockets_[here].socket.is_open()) continue;
      drain(here);
      const bool may_be_lost = stage.struck(sim::Fault::DatagramLoss) ||
                               stage.struck(sim::Fault::Partition) ||
                               stage.struck(sim::Fault::Pause);
      if (!may_be_lost) stage.complain(model_.all_received(here));
      close(here);
    }
  }

 private:
  /// Which socket is used.
  [[nodiscard]] std::size_t place_of(const Cue& cue) const {
    return (cue.actor + cue.number / 4u) % sockets_.size();
  }

  /// To a socket, or to the mirror behind the last of them, and back.
  void send(const Cue& cue, bool waits) {
    const std::size_t here = place_of(cue);
    const std::size_t there = (cue.actor + cue.number) % (sockets_.size() + 1);
    const std::size_t size = kSizes[(cue.actor + cue.number) % kSizes.size()];
    UdpSocket& socket = sockets_[here].socket;
    const bool reflected = there == sockets_.size();
    const std::size_t number = model_.begin(here, reflected ? here : there, size);
    const Address peer =
        reflected ? mirror_ : Address("127.0.0.1", static_cast<std::uint16_t>(kFirstPort + there));
    const std::vector<std::byte> bytes = model_.bytes_of(number);
    try {
      if (waits) return socket.send_to(bytes, peer, cue.patience);
      if (!socket.try_send_to(bytes, peer)) model_.refused(number);
    } catch (...) {
      model_.unsure(number);  // One that waits goes on, unless the socket is closed before.
      throw;
    }
  }

  void receive(const Cue& cue) {
    const std::size_t here = place_of(cue);
    Socket& at = sockets_[here];
    std::vector<std::byte> buffer(cue.number % 3 == 0 ? 8 : 2'000);
    if (!at.readers.line().empty()) at.one_at_a_time = false;
    at.readers.arrived(cue.actor);
    Datagram got;
    try {
      got = at.socket.receive(buffer, cue.patience);
    } catch (...) {
      at.one_at_a_time = false;
      at.readers.left(cue.actor);
      throw;
    }
    const models::Complaint complaint =
        at.readers.served(cue.actor, [this](std::size_t other) { return stage.parked(other); });
    if (!complaint.empty()) stage.complain("IO-09, " + complaint);
    took(here, got, std::span(buffer).first(got.size));
  }

  void took(std::size_t here, const Datagram& got, std::span<const std::byte> bytes) {
    const bool from_mirror = got.peer == mirror_;
    const std::size_t from = from_mirror ? here : got.peer.port() - kFirstPort;
    const models::DatagramModel::Faults faults{stage.struck(sim::Fault::DatagramDuplicate),
                                               stage.struck(sim::Fault::DatagramReorder)};
    const bool in_order = sockets_[here].one_at_a_time && from != here;
    stage.complain(
        model_.received(from, here, bytes, got.truncated, faults, in_order, from_mirror ? 2 : 1));
  }

  void drain(std::size_t here) {
    std::vector<std::byte> buffer(2'000);
    try {
      for (;;) {
        const Datagram got = sockets_[here].socket.receive(buffer, {.timeout = seconds(30)});
        took(here, got, std::span(buffer).first(got.size));
      }
    } catch (const Timeout&) {
    }
  }

  void close_early(const Cue& cue) {
    if (cue.number % 4 == 0) close(place_of(cue));
  }
  void close(std::size_t here) {
    sockets_[here].socket.close();
    for (const std::size_t reader : sockets_[here].readers.line()) {
      if (stage.parked(reader)) stage.complain("IO-06 (WAKE): closing left a reader asleep");
    }
  }

  Address mirror_;
  std::deque<Socket> sockets_;
  models::DatagramModel model_;
};

}  // namespace datagrams
}  // namespace

constinit const Law kDatagrams = {
    "datagrams",
    "a datagram arrives whole, once and in order, but for what the network does to it",
    {"G-05", "IO-06", "IO-09", "IO-13"},
    &scripts_over<datagrams::Datagrams>};

}  // namespace fermata::properties
