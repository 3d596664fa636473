// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/datagram_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/net/host_address.hpp"
#include "fermata/sim/net/link_table.hpp"

namespace fermata::sim::detail {

namespace {

/// Gets both versions at any address.
constexpr Address kEverywhere = Address::v6({}, 0);

}  // namespace

void DatagramNetwork::reset() noexcept {
  ways_.clear();
  bound_.clear();
  free_ports_.reset();
}

// --- sockets ---

Address DatagramNetwork::bind(Machine& machine, const Address& wanted, PacketReceiver& receiver,
                              const Sharing& sharing) {
  const auto refuse = [&](int code) {
    throw InputOutputError(fmt::format("bind {}", wanted.text()), code);
  };
  const bool is_group = wanted.version() == IpVersion::V4 && wanted.is_multicast();
  if (!is_own(machine, wanted) && !is_group) refuse(EADDRNOTAVAIL);
  Address address = wanted;
  if (wanted.port() == 0) {
    address = wanted.with_port(free_ports_.next(machine.ip(), [&](std::uint16_t port) {
      return in_use(machine, kEverywhere.with_port(port), {});
    }));
  } else if (in_use(machine, wanted, sharing)) {
    refuse(EADDRINUSE);
  }
  FERMATA_ASSERT(!sharing.only_v6 || address.version() == IpVersion::V6);
  bound_.push_back(
      {.receiver = &receiver, .machine = &machine, .address = address, .sharing = sharing});
  FERMATA_ASSERT(address.port() != 0);
  return address;
}

bool DatagramNetwork::gets(const Address& address, const Sharing& sharing,
                           IpVersion version) noexcept {
  if (sharing.only_v6) return version == IpVersion::V6;
  return detail::gets(address, version);
}

bool DatagramNetwork::in_use(const Machine& machine, const Address& address,
                             const Sharing& sharing) const {
  return std::any_of(bound_.begin(), bound_.end(), [&](const Bound& other) {
    const auto share = [&](IpVersion version) {
      return gets(other.address, other.sharing, version) && gets(address, sharing, version);
    };
    const bool overlaps =
        (share(IpVersion::V4) || share(IpVersion::V6)) &&
        (other.address.is_any() || address.is_any() || same_ip(other.address, address));
    return other.machine == &machine && other.address.port() == address.port() && overlaps &&
           !(sharing.reuse_address && other.sharing.reuse_address);
  });
}

void DatagramNetwork::unbind(const PacketReceiver& receiver) noexcept {
  std::erase_if(bound_, [&](const Bound& each) { return each.receiver == &receiver; });
}

DatagramNetwork::Bound& DatagramNetwork::bound(const PacketReceiver& receiver) {
  const auto found = std::find_if(bound_.begin(), bound_.end(),
                                  [&](const Bound& each) { return each.receiver == &receiver; });
  FERMATA_ASSERT(found != bound_.end());
  return *found;
}

int DatagramNetwork::join(const PacketReceiver& receiver, const Address& group, bool by_loopback) {
  auto& groups = bound(receiver).groups;
  const Membership membership{group.with_port(0), by_loopback};
  if (std::find(groups.begin(), groups.end(), membership) != groups.end()) return EADDRINUSE;
  groups.push_back(membership);
  return 0;
}

int DatagramNetwork::leave(const PacketReceiver& receiver, const Address& group, bool by_loopback) {
  const Membership membership{group.with_port(0), by_loopback};
  return std::erase(bound(receiver).groups, membership) == 0 ? EADDRNOTAVAIL : 0;
}

// --- datagrams ---

void DatagramNetwork::send(Machine& from, Packet packet, Reach reach) {
  if (from.over()) return;
  const auto sent = std::make_shared<const Packet>(std::move(packet));
  FERMATA_ASSERT(sent->source.port() != 0);
  FERMATA_ASSERT(!sent->source.is_any());
  FERMATA_ASSERT(sent->destination == sent->destination.unmapped());
  if (!sent->destination.is_multicast() && !sent->destination.is_broadcast()) {
    Machine* const machine = machine_at(from, sent->destination);
    if (machine != nullptr) return send_to(from, *machine, sent);
    note_datagram(from, from, *sent, Message::Fate::Lost);
    return;
  }
  std::vector<Machine*> machines;
  for (const Bound& each : bound_) {
    const bool reached = each.machine == &from ? reach.own_machine : reach.others;
    if (!reached || !hears(each, *sent)) continue;
    if (std::find(machines.begin(), machines.end(), each.machine) == machines.end()) {
      machines.push_back(each.machine);
    }
  }
  for (Machine* const machine : machines) {
    send_to(from, *machine, sent);
  }
}

std::unique_ptr<DatagramWay>& DatagramNetwork::way(const Machine& from, const Machine& to) {
  if (from.number() >= ways_.size()) ways_.resize(from.number() + 1);
  auto& ways = ways_[from.number()];
  if (to.number() >= ways.size()) ways.resize(to.number() + 1);
  return ways[to.number()];
}

void DatagramNetwork::send_to(Machine& from, Machine& to, const PacketRef& packet) {
  auto& there = way(from, to);
  if (there == nullptr) {
    PacketSwitch& destination = *this;
    there = std::make_unique<DatagramWay>(links_.between(from, to), destination);
  }
  there->send(packet);
}

void DatagramNetwork::reopened(const LinkState& link, Instant when) {
  const auto& there = way(link.from(), link.to());
  if (there != nullptr) there->reopened(when);
}

bool DatagramNetwork::hears(const Bound& bound, const Packet& packet) {
  const Address& destination = packet.destination;
  if (bound.address.port() != destination.port()) return false;
  if (!bound.receiver->takes_from(packet.source)) return false;
  if (!gets(bound.address, bound.sharing, destination.version())) return false;
  if (destination.is_broadcast()) return bound.address.is_any();
  if (!bound.address.is_any() && !same_ip(bound.address, destination)) return false;
  if (!destination.is_multicast()) return true;
  const Membership needed{destination.with_port(0), packet.by_loopback};
  return std::find(bound.groups.begin(), bound.groups.end(), needed) != bound.groups.end();
}

bool DatagramNetwork::arrived(Machine& machine, const PacketRef& packet) {
  const bool is_for_many = packet->destination.is_multicast() || packet->destination.is_broadcast();
  const Bound* only = nullptr;
  bool taken = false;
  for (const Bound& each : bound_) {
    if (each.machine != &machine || !hears(each, *packet)) continue;
    if (is_for_many) {
      taken = each.receiver->arrived(packet) || taken;
    } else if (only == nullptr || only->address.is_any() || !each.address.is_any()) {
      only = &each;  // The address itself goes before 0.0.0.0, then the latest.
    }
  }
  if (only != nullptr) return only->receiver->arrived(packet);
  if (packet->connected && !is_for_many) refuse(machine, *packet);
  return taken;
}

void DatagramNetwork::refuse(Machine& machine, const Packet& packet) {
  Machine* const sender = machine_at(machine, packet.source);
  if (sender == nullptr || machine.over() || machine.is_down()) return;
  send_to(machine, *sender,
          std::make_shared<const Packet>(Packet{.source = packet.destination,
                                                .destination = packet.source,
                                                .bytes = {},
                                                .by_loopback = packet.by_loopback,
                                                .refuses = true}));
}

}  // namespace fermata::sim::detail
