// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/datagram_end.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/net/host_address.hpp"
#include "fermata/sim/net/network.hpp"

namespace fermata::sim::detail {

namespace {

std::size_t room_for(const Packet& packet) { return packet.bytes.size() + DatagramEnd::kOverhead; }

}  // namespace

DatagramEnd::DatagramEnd(DatagramUser& user, Machine& machine, Network& network,
                         const Address& address, const DatagramOptions& options, bool only_v6)
    : user_(user),
      machine_(machine),
      network_(network),
      options_(options),
      only_v6_(only_v6),
      address_(network.datagrams().bind(
          machine, address, *this, {.reuse_address = options.reuse_address, .only_v6 = only_v6})),
      key_(key_of(key_of(machine.key(), "datagrams"), address_.port())) {
  FERMATA_ASSERT(address_.port() != 0);
}

// --- receiving ---

bool DatagramEnd::arrived(const PacketRef& packet) {
  if (packet->refuses) {
    if (only_from_ || tells_all_refusals_) user_.datagram_refused();
    return true;
  }
  const bool fits = buffered_ + room_for(*packet) <= static_cast<std::size_t>(receive_buffer_);
  if (!fits) return false;
  buffered_ += room_for(*packet);
  const RunLog* const told = machine_.run_log();
  buffer_.push_back({packet, told != nullptr ? told->arriving() : 0});
  FERMATA_ASSERT(buffered_ <= static_cast<std::size_t>(receive_buffer_));
  user_.datagram_came();
  return true;
}

DatagramEnd::Received DatagramEnd::take() {
  FERMATA_ASSERT(!buffer_.empty());
  Received first = std::move(buffer_.front());
  buffer_.pop_front();
  FERMATA_ASSERT(buffered_ >= room_for(*first.packet));
  buffered_ -= room_for(*first.packet);
  return first;
}

// --- sending ---

bool DatagramEnd::would_block() {
  const auto tell = [&](const Decision&) {
    return fmt::format("a datagram that '{}' sends from port {} has to wait for room",
                       machine_.name(), address_.port());
  };
  return machine_.faults().strikes(Fault::ShortWrite, backend::RandomStream::Network,
                                   key_of(key_, "would block"), tell);
}

int DatagramEnd::refusal(const Address& peer) const {
  const IpVersion version = peer.unmapped().version();
  if (address_.version() == IpVersion::V4 && peer.version() == IpVersion::V6) return EAFNOSUPPORT;
  if (!gets(address_, version) || (only_v6_ && version == IpVersion::V4)) return ENETUNREACH;
  if (version == IpVersion::V6 && peer.is_multicast()) return ENETUNREACH;
  if (peer.is_broadcast() && !options_.broadcast) return EACCES;
  const bool leaves = !sends_by_loopback(peer) && host_number(peer) != machine_.ip();
  return address_.is_loopback() && leaves ? EINVAL : 0;
}

bool DatagramEnd::sends_by_loopback(const Address& peer) const {
  if (peer.is_multicast()) return options_.multicast_interface.is_loopback();
  return peer.is_any() || peer.is_loopback();
}

void DatagramEnd::transmit(std::span<const std::byte> data, Address peer) {
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
  network_.datagrams().send(
      machine_,
      {.source = source,
       .destination = peer,
       .bytes = {data.begin(), data.end()},
       .by_loopback = by_loopback,
       .connected = tells_all_refusals_ || (only_from_ && peer == only_from_->unmapped())},
      reach);
}

// --- options, groups, closing ---

int DatagramEnd::set_option(backend::SocketOption option, int value) {
  if (option == backend::SocketOption::ReceiveBuffer) {
    receive_buffer_ = value;
  } else if (option == backend::SocketOption::SendBuffer) {
    send_buffer_ = value;
  } else {
    return ENOPROTOOPT;
  }
  return 0;
}

int DatagramEnd::option(backend::SocketOption option, int& value) const {
  const bool has =
      option == backend::SocketOption::ReceiveBuffer || option == backend::SocketOption::SendBuffer;
  value = option == backend::SocketOption::ReceiveBuffer ? receive_buffer_ : send_buffer_;
  return has ? 0 : ENOPROTOOPT;
}

int DatagramEnd::set_membership(const Address& group, bool member) {
  return set_membership(group, member, options_.multicast_interface.is_loopback());
}

int DatagramEnd::set_membership(const Address& group, bool member, bool by_loopback) {
  FERMATA_ASSERT(group.is_multicast());
  DatagramNetwork& network = network_.datagrams();
  return member ? network.join(*this, group, by_loopback)
                : network.leave(*this, group, by_loopback);
}

void DatagramEnd::close() noexcept {
  FERMATA_ASSERT(address_.port() != 0);
  buffer_.clear();
  buffered_ = 0;
  network_.datagrams().unbind(*this);
}

}  // namespace fermata::sim::detail
