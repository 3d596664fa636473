// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/network.hpp"

#include <algorithm>
#include <cerrno>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/net/host_address.hpp"

namespace fermata::sim::detail {

namespace {

constexpr std::array kVersions = {IpVersion::V4, IpVersion::V6};

[[noreturn]] void refuse(const std::string& place, int code) {
  throw InputOutputError("listen at " + place, code);
}

}  // namespace

void Network::reset() noexcept {
  names_.reset();
  bound_.clear();
  local_listeners_.clear();
  local_names_.clear();
  local_connections_.clear();
  forget_connections();
  free_ports_.reset();
  datagrams_.reset();
  links_.clear();
}

bool Network::gets(const Bound& bound, IpVersion version) noexcept {
  FERMATA_ASSERT(bound.address.port() != 0);
  if (bound.versions == BoundVersions::OnlyV6) return version == IpVersion::V6;
  return detail::gets(bound.address, version);
}

bool Network::conflict(const Bound& a, const Bound& b) noexcept {
  FERMATA_ASSERT(a.address.port() == b.address.port());
  const bool overlap = a.address.is_any() || b.address.is_any() || same_ip(a.address, b.address);
  return overlap && std::any_of(kVersions.begin(), kVersions.end(), [&](IpVersion version) {
           return gets(a, version) && gets(b, version);
         });
}

Address Network::bind(Machine& machine, const Address& wanted, Listening* listening,
                      BoundVersions versions) {
  if (!is_own(machine, wanted)) refuse(wanted.text(), EADDRNOTAVAIL);
  const std::uint16_t port = wanted.port() != 0 ? wanted.port() : free_port(machine);
  FERMATA_ASSERT(port != 0);
  const Bound bound{wanted.with_port(port), versions, listening};
  const Place place{machine.ip(), port};
  const auto there = bound_.find(place);
  const bool is_taken = there != bound_.end() &&
                        std::any_of(there->second.begin(), there->second.end(),
                                    [&](const Bound& each) { return conflict(each, bound); });
  if (is_taken) refuse(wanted.text(), EADDRINUSE);
  FERMATA_ASSERT(bound.address.port() == port);
  bound_[place].push_back(bound);
  return bound.address;
}

Network::Bound& Network::bound_at(const Machine& machine, const Address& address) noexcept {
  const auto there = bound_.find(Place{machine.ip(), address.port()});
  FERMATA_ASSERT(there != bound_.end());
  const auto found = std::find_if(there->second.begin(), there->second.end(),
                                  [&](const Bound& each) { return each.address == address; });
  FERMATA_ASSERT(found != there->second.end());
  return *found;
}

void Network::listen(const Machine& machine, const Address& address,
                     Listening& listening) noexcept {
  Bound& bound = bound_at(machine, address);
  FERMATA_ASSERT(bound.listening == nullptr);
  bound.listening = &listening;
}

void Network::unbind(const Machine& machine, const Address& address) noexcept {
  const auto there = bound_.find(Place{machine.ip(), address.port()});
  FERMATA_ASSERT(there != bound_.end());
  [[maybe_unused]] const std::size_t erased =
      std::erase_if(there->second, [&](const Bound& each) { return each.address == address; });
  FERMATA_ASSERT(erased == 1);
  if (there->second.empty()) bound_.erase(there);
}

void Network::set_local_names(const Machine& machine, const LocalNames* names) {
  if (names != nullptr) {
    local_names_[machine.ip()] = names;
  } else {
    local_names_.erase(machine.ip());
  }
}

void Network::bind(const Machine& machine, const std::string& path, Listening* listening) {
  const auto names = local_names_.find(machine.ip());
  if (names != local_names_.end() && names->second->is_bound(path)) refuse(path, EADDRINUSE);
  const LocalPlace place{machine.ip(), path};
  if (!local_listeners_.emplace(place, listening).second) refuse(path, EADDRINUSE);
}

void Network::listen(const Machine& machine, const std::string& path,
                     Listening& listening) noexcept {
  const auto found = local_listeners_.find(LocalPlace{machine.ip(), path});
  FERMATA_ASSERT(found != local_listeners_.end() && found->second == nullptr);
  found->second = &listening;
}

bool Network::is_bound(const Machine& machine, const std::string& path) const noexcept {
  return local_listeners_.contains(LocalPlace{machine.ip(), path});
}

void Network::unbind(const Machine& machine, const std::string& path) noexcept {
  const std::size_t erased = local_listeners_.erase(LocalPlace{machine.ip(), path});
  FERMATA_ASSERT(erased == 1);
}

Listening* Network::listening_at(const Machine& machine, const std::string& path) const noexcept {
  const auto found = local_listeners_.find(LocalPlace{machine.ip(), path});
  if (found != local_listeners_.end()) return found->second;
  const auto names = local_names_.find(machine.ip());
  return names == local_names_.end() ? nullptr : names->second->listening_at(path);
}

// What is bound at the address itself comes before what is bound at any. From another machine no
// loopback address leads here.
Listening* Network::listening_at(const Machine& server, const Address& address,
                                 const Machine& client) const noexcept {
  const auto there = bound_.find(Place{server.ip(), address.port()});
  if (there == bound_.end()) return nullptr;
  FERMATA_ASSERT(!there->second.empty());
  const IpVersion version = address.unmapped().version();
  const bool is_local = &server == &client;
  Listening* any = nullptr;
  for (const Bound& each : there->second) {
    if (!gets(each, version) || (each.address.is_loopback() && !is_local)) continue;
    if (same_ip(each.address, address)) return each.listening;
    const bool is_any = each.address.is_any() || (address.is_any() && each.address.is_loopback());
    if (is_any) any = each.listening;
  }
  return any;
}

std::shared_ptr<Connection> Network::make_connection(Machine& client, Machine& server,
                                                     const Address& peer, std::uint16_t own_port) {
  LinkState& there = links_.between(client, server);
  const std::uint16_t port = own_port != 0 ? own_port : free_port(client);
  FERMATA_ASSERT(port != 0);
  const Address own = host_address(peer.unmapped().version(), client.ip(), port);
  const Address local = peer.is_loopback() ? peer.with_port(port) : seen_by(peer.version(), own);
  const auto connection = std::make_shared<Connection>(
      there.next_connection(), Connection::End{&client, local}, Connection::End{&server, peer},
      there, links_.between(server, client));
  connection->enter(connections_);
  return connection;
}

std::shared_ptr<Connection> Network::make_local_connection(Machine& machine,
                                                           const std::string& place) {
  const std::uint64_t number = local_connections_[{machine.ip(), place}]++;
  const std::uint64_t key = key_of(key_of(machine.key(), place), number);
  const auto connection = std::make_shared<Connection>(key, machine, place);
  connection->enter(connections_);
  return connection;
}

void Network::forget_connections() noexcept {
  while (Connection* const connection = connections_.first()) connection->leave_list();
}

template <class F>
void Network::for_each_end(const Machine& machine, F visit) {
  std::shared_ptr<Connection> keep;
  for (Connection* each = connections_.first(); each != nullptr; each = connections_.after(*each)) {
    keep = each->shared_from_this();
    for (const auto side : {Connection::Client, Connection::Server}) {
      if (each->end(side).machine == &machine) visit(*each, side);
    }
  }
}

void Network::crash(const Machine& machine, bool silent) {
  for_each_end(machine, [&](Connection& connection, Connection::Side side) {
    connection.crash(side, silent);
  });
}

void Network::isolate(const Machine& machine, Duration time) {
  links_.for_each([&](LinkState& link) {
    const bool leads_away = &link.from() != &link.to();
    if (leads_away && (&link.from() == &machine || &link.to() == &machine)) link.lose(time);
  });
}

void Network::reopened(LinkState& link, Instant when) {
  FERMATA_ASSERT(!link.is_closed());
  datagrams_.reopened(link, when);
  for_each_sender(link, [&](Connection& connection, Connection::Side side) {
    connection.reopened(side, when);
  });
}

void Network::worsened(LinkState& link) {
  FERMATA_ASSERT(!link.gets_through());
  for_each_sender(
      link, [](Connection& connection, Connection::Side /*side*/) { connection.path_worsened(); });
}

template <class F>
void Network::for_each_sender(const LinkState& link, F visit) {
  for_each_end(link.from(), [&](Connection& connection, Connection::Side side) {
    const Machine* there = connection.end(Connection::other(side)).machine;
    if (there == &link.to() && !connection.local()) visit(connection, side);
  });
}

std::uint16_t Network::free_port(const Machine& machine) {
  return free_ports_.next(machine.ip(), [&](std::uint16_t port) {
    return bound_.contains(Place{machine.ip(), port});
  });
}

}  // namespace fermata::sim::detail
