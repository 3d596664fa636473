// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/datagrams.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/machine/close_delay.hpp"
#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/net/host_address.hpp"
#include "fermata/sim/net/latency.hpp"
#include "fermata/sim/net/network.hpp"
#include "fermata/sim/record/run_log.hpp"

namespace fermata::sim::detail {

namespace {

std::size_t room_for(const Packet& packet) {
  return packet.bytes.size() + SimDatagramSocket::kOverhead;
}

}  // namespace

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
      machine_(machine),
      network_(network),
      options_(options),
      address_(network.datagrams().bind(machine, address, *this, options.reuse_address)),
      key_(key_of(key_of(machine.key(), "datagrams"), address_.port())),
      hand_over_(*this, &SimDatagramSocket::hand_over),
      room_(*this, &SimDatagramSocket::send_submitted),
      acknowledgement_(*this, &SimDatagramSocket::close_acknowledged) {
  FERMATA_ASSERT(address_.port() != 0);
}

// --- receiving ---

bool SimDatagramSocket::arrived(const PacketRef& packet) {
  const bool fits = buffered_ + room_for(*packet) <= static_cast<std::size_t>(receive_buffer_);
  if (!fits) return false;
  buffered_ += room_for(*packet);
  const RunLog* const told = machine_.run_log();
  buffer_.push_back({packet, told != nullptr ? told->arriving() : 0});
  expect_hand_over();
  return true;
}

int SimDatagramSocket::start_receiving() {
  receiving_ = true;
  expect_hand_over();
  return 0;
}

void SimDatagramSocket::expect_hand_over() {
  if (!receiving_ || buffer_.empty() || hand_over_.is_scheduled()) return;
  machine_.agenda().schedule(hand_over_, machine_.now(), key_);
}

void SimDatagramSocket::hand_over() {
  while (receiving_ && !buffer_.empty()) {
    const auto [packet, noted] = std::move(buffer_.front());
    buffer_.pop_front();
    FERMATA_ASSERT(buffered_ >= room_for(*packet));
    buffered_ -= room_for(*packet);
    const Arrival arrival(machine_.run_log(), noted);
    received(packet->bytes, seen_by(address_.version(), packet->source));
  }
}

// --- sending ---

bool SimDatagramSocket::would_block() {
  const auto tell = [&](const Decision&) {
    return fmt::format("a datagram that '{}' sends from port {} has to wait for room",
                       machine_.name(), address_.port());
  };
  return machine_.faults().strikes(Fault::ShortWrite, backend::RandomStream::Network,
                                   key_of(key_, "would block"), tell);
}

int SimDatagramSocket::send_now(std::span<const std::byte> data, const Address& peer) {
  if (const int code = refusal(peer)) return code;
  if (would_block()) return EAGAIN;
  transmit(data, peer);
  return 0;
}

int SimDatagramSocket::submit_send(std::span<const std::byte> data, const Address& peer) {
  if (const int code = refusal(peer)) return code;
  FERMATA_ASSERT(!room_.is_scheduled());
  submitted_ = data;
  submitted_to_ = peer;
  const Duration wait = network_.links().between(machine_, machine_).least_latency();
  machine_.agenda().schedule(room_, machine_.now() + wait, key_of(key_, "room"));
  return 0;
}

void SimDatagramSocket::send_submitted() {
  transmit(submitted_, submitted_to_);
  send_done(0);
}

int SimDatagramSocket::refusal(const Address& peer) const {
  const IpVersion version = peer.unmapped().version();
  if (address_.version() == IpVersion::V4 && peer.version() == IpVersion::V6) return EAFNOSUPPORT;
  if (!gets(address_, version)) return ENETUNREACH;
  if (version == IpVersion::V6 && peer.is_multicast()) return ENETUNREACH;
  if (peer.is_broadcast() && !options_.broadcast) return EACCES;
  const bool leaves = !sends_by_loopback(peer) && host_number(peer) != machine_.ip();
  return address_.is_loopback() && leaves ? EINVAL : 0;
}

bool SimDatagramSocket::sends_by_loopback(const Address& peer) const {
  if (peer.is_multicast()) return options_.multicast_interface.is_loopback();
  return peer.is_any() || peer.is_loopback();
}

void SimDatagramSocket::transmit(std::span<const std::byte> data, Address peer) {
  const bool by_loopback = sends_by_loopback(peer);
  peer = peer.unmapped();
  if (peer.is_any()) peer = host_address(peer.version(), kLoopback, peer.port());
  Address source = address_.unmapped();
  if (source.is_any() || source.is_multicast()) {
    const std::uint32_t host = by_loopback ? kLoopback : machine_.ip();
    source = host_address(peer.version(), host, address_.port());
  }
  FERMATA_ASSERT(!source.is_any());
  Reach reach;
  if (peer.is_multicast()) {
    reach.own_machine = options_.multicast_loop || by_loopback;
    reach.others = !by_loopback && options_.multicast_ttl > 0;
  }
  network_.datagrams().send(machine_,
                            {.source = source,
                             .destination = peer,
                             .bytes = {data.begin(), data.end()},
                             .by_loopback = by_loopback},
                            reach);
}

// --- options, groups, closing ---

int SimDatagramSocket::apply_option(SocketOption option, int value) {
  if (option == SocketOption::ReceiveBuffer) {
    receive_buffer_ = value;
  } else if (option == SocketOption::SendBuffer) {
    send_buffer_ = value;
  } else {
    return ENOPROTOOPT;
  }
  return 0;
}

int SimDatagramSocket::read_option(SocketOption option, int& value) const {
  const bool has = option == SocketOption::ReceiveBuffer || option == SocketOption::SendBuffer;
  value = option == SocketOption::ReceiveBuffer ? receive_buffer_ : send_buffer_;
  return has ? 0 : ENOPROTOOPT;
}

int SimDatagramSocket::set_membership(const Address& group, bool member) {
  DatagramNetwork& network = network_.datagrams();
  const bool by_loopback = options_.multicast_interface.is_loopback();
  return member ? network.join(*this, group, by_loopback)
                : network.leave(*this, group, by_loopback);
}

void SimDatagramSocket::close_backend() noexcept {
  receiving_ = false;
  submitted_ = {};
  buffer_.clear();
  hand_over_.cancel();
  room_.cancel();
  network_.datagrams().unbind(*this);
  const Duration delay =
      close_delay(machine_, key_, [&] { return fmt::format("port {}", address_.port()); });
  machine_.agenda().schedule(acknowledgement_, machine_.now() + delay, key_);
}

}  // namespace fermata::sim::detail
