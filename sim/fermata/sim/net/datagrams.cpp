// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/datagrams.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/machine/close_delay.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/net/host_address.hpp"
#include "fermata/sim/net/latency.hpp"
#include "fermata/sim/net/network.hpp"
#include "fermata/sim/record/run_log.hpp"

namespace fermata::sim::detail {

Ref<backend::DatagramHandle> SimDatagrams::open(const Address& address,
                                                const DatagramOptions& options) {
  if (!is_own(machine_, options.multicast_interface)) {
    throw InputOutputError(fmt::format("bind {}", address.text()), EADDRNOTAVAIL);
  }
  return Ref<backend::DatagramHandle>::adopt(
      *new SimDatagramSocket(attachment_, machine_, network_, address, options));
}

SimDatagramSocket::SimDatagramSocket(fermata::detail::Attachment& attachment, Machine& machine,
                                     Network& network, const Address& address,
                                     const DatagramOptions& options)
    : backend::DatagramHandle(attachment),
      end_(*this, machine, network, address, options),
      network_(network),
      hand_over_(*this),
      room_(*this),
      acknowledgement_(*this) {}

// --- receiving ---

int SimDatagramSocket::start_receiving() {
  receiving_ = true;
  expect_hand_over();
  return 0;
}

void SimDatagramSocket::expect_hand_over() {
  if (!receiving_ || end_.waiting().empty() || hand_over_.is_scheduled()) return;
  Machine& machine = end_.machine();
  machine.agenda().schedule(hand_over_, machine.now(), end_.key());
}

void SimDatagramSocket::hand_over() {
  while (receiving_ && !end_.waiting().empty()) {
    const auto [packet, noted] = end_.take();
    const Arrival arrival(end_.machine().run_log(), noted);
    received(packet->bytes, seen_by(end_.address().version(), packet->source));
  }
}

// --- sending ---

int SimDatagramSocket::send_now(std::span<const std::byte> data, const Address& peer) {
  if (const int code = end_.refusal(peer)) return code;
  if (end_.would_block()) return EAGAIN;
  end_.transmit(data, peer);
  return 0;
}

int SimDatagramSocket::submit_send(std::span<const std::byte> data, const Address& peer) {
  if (const int code = end_.refusal(peer)) return code;
  FERMATA_ASSERT(!room_.is_scheduled());
  submitted_ = data;
  submitted_to_ = peer;
  Machine& machine = end_.machine();
  const Duration wait = network_.links().between(machine, machine).least_latency();
  machine.agenda().schedule(room_, machine.now() + wait, key_of(end_.key(), "room"));
  return 0;
}

void SimDatagramSocket::send_submitted() {
  FERMATA_ASSERT(!room_.is_scheduled());
  end_.transmit(submitted_, submitted_to_);
  send_done(0);
}

// --- closing ---

void SimDatagramSocket::close_backend() noexcept {
  receiving_ = false;
  submitted_ = {};
  hand_over_.cancel();
  room_.cancel();
  end_.close();
  Machine& machine = end_.machine();
  const Duration delay = close_delay(machine, end_.key(),
                                     [&] { return fmt::format("port {}", end_.address().port()); });
  machine.agenda().schedule(acknowledgement_, machine.now() + delay, end_.key());
}

}  // namespace fermata::sim::detail
