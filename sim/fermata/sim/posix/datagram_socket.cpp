// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/datagram_socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/net/host_address.hpp"
#include "fermata/sim/posix/socket_address.hpp"

namespace fermata::sim::detail {

namespace {
/// The most that a datagram of either version holds.
constexpr std::size_t kMostBytes = 65'507;
}  // namespace

DatagramSocket::DatagramSocket(Machine& machine, Network& network, std::uint64_t serial, int domain)
    : Socket(machine, "UDP socket", serial, {domain, SOCK_DGRAM, IPPROTO_UDP}), network_(network) {
  if (version() == IpVersion::V6) unbound_ = Address::v6({}, 0);
}

DatagramSocket::~DatagramSocket() {
  if (end_ != nullptr) end_->close();
}

std::string DatagramSocket::state() {
  if (end_ == nullptr) return "not bound";
  return fmt::format("port {}, {} datagrams wait", end_->address().port(), end_->waiting().size());
}

Readiness DatagramSocket::readiness() {
  Readiness ready = EPOLLOUT;
  if (first() != nullptr || shut_.reading) ready |= EPOLLIN;
  if (shut_.reading) ready |= EPOLLRDHUP;
  if (shut_.both()) ready |= EPOLLHUP;
  if (error_ != 0) ready |= EPOLLERR;
  return ready;
}

void DatagramSocket::datagram_refused() {
  error_ = ECONNREFUSED;
  changed(EPOLLERR);
}

const DatagramEnd::Received* DatagramSocket::first() const noexcept {
  if (!left_.empty()) return &left_.front();
  return end_ == nullptr || end_->waiting().empty() ? nullptr : &end_->waiting().front();
}

DatagramEnd::Received DatagramSocket::take() {
  FERMATA_ASSERT(first() != nullptr);
  if (left_.empty()) return end_->take();
  DatagramEnd::Received first = std::move(left_.front());
  left_.pop_front();
  return first;
}

int DatagramSocket::readable_bytes() {
  return first() == nullptr ? 0 : static_cast<int>(first()->packet->bytes.size());
}

// --- names ---

int DatagramSocket::bind_at(const Address& address) {
  FERMATA_ASSERT(end_ == nullptr);
  try {
    end_ = std::make_unique<DatagramEnd>(*this, machine(), network_, address, sending_options(),
                                         options_.number(IPPROTO_IPV6, IPV6_V6ONLY) != 0);
    port_was_chosen_ = address.port() == 0;
    for (const Membership& each : memberships_) {
      static_cast<void>(end_->set_membership(each.group, true, each.by_loopback));
    }
    options_changed();
    return 0;
  } catch (const InputOutputError& error) {
    return error.code();
  }
}

int DatagramSocket::bind_somewhere() {
  if (end_ != nullptr) return 0;
  return bind_at(unbound_);
}

int DatagramSocket::bind(const sockaddr* address, socklen_t size) {
  int code = 0;
  const std::optional<Address> wanted = ip_address(options_.domain(), address, size, code);
  if (!wanted) return -code;
  return end_ != nullptr ? -EINVAL : -bind_at(*wanted);
}

int DatagramSocket::connect(const sockaddr* address, socklen_t size) {
  if (address != nullptr && size >= sizeof(sa_family_t) && address->sa_family == AF_UNSPEC) {
    disconnect();
    return 0;
  }
  int code = bind_somewhere();  // Before the address is looked at, as by the system.
  if (code != 0) return -code;
  const std::optional<Address> peer = ip_address(options_.domain(), address, size, code);
  if (!peer) return -code;
  if ((code = end_->refusal(*peer)) != 0) return -code;
  peer_ = peer;
  end_->receive_only_from(peer);
  return 0;
}

// A port that the system has chosen is given up.
void DatagramSocket::disconnect() {
  peer_ = std::nullopt;
  if (end_ == nullptr) return;
  end_->receive_only_from(std::nullopt);
  if (!port_was_chosen_) return;
  unbound_ = end_->address().with_port(0);
  while (!end_->waiting().empty()) left_.push_back(end_->take());
  end_->close();
  end_ = nullptr;
}

// A socket that is connected shows the address that it sends from.
int DatagramSocket::name(bool own, sockaddr* address, socklen_t* size) {
  if (!own && !peer_) return -ENOTCONN;
  Address value = unbound_;
  if (!own) {
    value = *peer_;
  } else if (end_ != nullptr) {
    value = end_->address();
    if (peer_ && value.is_any()) {
      const std::uint32_t host = peer_->is_loopback() ? kLoopback : machine().ip();
      value = seen_by(version(),
                      host_address(peer_->unmapped().version(), host, end_->address().port()));
    }
  }
  spell(value, address, size);
  return 0;
}

// --- transfer ---

ssize_t DatagramSocket::receive(msghdr& message, int flags, std::shared_ptr<Rights>& /*rights*/) {
  if ((flags & (MSG_OOB | MSG_ERRQUEUE)) != 0)
    return (flags & MSG_OOB) != 0 ? -EOPNOTSUPP : -EAGAIN;
  if (const int code = take_error()) return -code;
  if (first() == nullptr) return -EAGAIN;
  const bool peeks = (flags & MSG_PEEK) != 0;
  const auto [packet, noted] = peeks ? *first() : take();
  const Arrival arrival(machine().run_log(), noted);
  const std::span<const iovec> target(message.msg_iov, message.msg_iovlen);
  const std::span<const std::byte> bytes(packet->bytes);
  const std::size_t part = std::min(size_of(target), bytes.size());
  scatter(bytes.first(part), target);
  message.msg_flags = part < bytes.size() ? MSG_TRUNC : 0;
  if (message.msg_name != nullptr) {
    spell(seen_by(version(), packet->source), static_cast<sockaddr*>(message.msg_name),
          &message.msg_namelen);
  }
  return static_cast<ssize_t>((flags & MSG_TRUNC) != 0 ? bytes.size() : part);
}

ssize_t DatagramSocket::send(const msghdr& message, int flags,
                             std::shared_ptr<Rights>& /*rights*/) {
  int code = bind_somewhere();  // Before anything is looked at, as by the system.
  if (code != 0) return -code;
  if ((flags & MSG_OOB) != 0 || message.msg_controllen != 0) return -EOPNOTSUPP;
  std::optional<Address> peer = peer_;
  if (message.msg_name != nullptr) {
    peer = ip_address(options_.domain(), static_cast<const sockaddr*>(message.msg_name),
                      message.msg_namelen, code);
    if (!peer) return -code;
  }
  if (!peer) return -EDESTADDRREQ;
  if (peer->port() == 0) return -EINVAL;
  const std::vector<std::byte> bytes = gather({message.msg_iov, message.msg_iovlen});
  if (bytes.size() > kMostBytes) return -EMSGSIZE;
  if ((code = end_->refusal(*peer)) != 0) return -code;
  if ((code = take_error()) != 0) return -code;
  if (shut_.writing) return -EPIPE;
  if (end_->would_block()) return -EAGAIN;
  end_->transmit(bytes, *peer);
  return static_cast<ssize_t>(bytes.size());
}

int DatagramSocket::shut_down(int how) {
  if (how < SHUT_RD || how > SHUT_RDWR) return -EINVAL;
  shut_.add(how);
  changed();
  return peer_ ? 0 : -ENOTCONN;
}

void DatagramSocket::options_changed() {
  if (end_ == nullptr) return;
  FERMATA_ASSERT(end_->address().port() != 0);
  end_->set_options(sending_options());
  const bool is_v6 = version() == IpVersion::V6;
  const int wants_errors =
      is_v6 ? options_.number(IPPROTO_IPV6, IPV6_RECVERR) : options_.number(IPPROTO_IP, IP_RECVERR);
  end_->tell_all_refusals(wants_errors != 0);
}

namespace {

constexpr int kLoopbackInterface = 1;
constexpr int kNetworkInterface = 2;

/// The interface that is told by its number or by its address, and without either the network's; 0
/// when there is none.
int interface_of(const ip_mreqn& asked, std::uint32_t own_ip) noexcept {
  const int number = asked.imr_ifindex;
  if (number != 0) {
    return number == kLoopbackInterface || number == kNetworkInterface ? number : 0;
  }
  const std::uint32_t host = ntohl(asked.imr_address.s_addr);
  if (host == kLoopback) return kLoopbackInterface;
  return host == 0 || host == own_ip ? kNetworkInterface : 0;
}

}  // namespace

std::optional<int> DatagramSocket::carry_out_option(int level, int name, const void* value,
                                                    socklen_t size) {
  const bool joins = name == IP_ADD_MEMBERSHIP;
  if (level != IPPROTO_IP || (!joins && name != IP_DROP_MEMBERSHIP)) return std::nullopt;
  return -set_membership(joins, value, size);
}

int DatagramSocket::set_membership(bool joins, const void* request, socklen_t size) {
  constexpr std::size_t kMostGroups = 20;
  ip_mreqn asked = {};
  if (request == nullptr || size < sizeof(ip_mreq)) return EINVAL;
  std::memcpy(&asked, request, std::min<std::size_t>(size, sizeof asked));
  if (size < sizeof asked) asked.imr_ifindex = 0;
  const Address group = Address::v4(ntohl(asked.imr_multiaddr.s_addr), 0);
  if (!group.is_multicast()) return EINVAL;
  const int interface = interface_of(asked, machine().ip());
  if (interface == 0) return ENODEV;
  const Membership wanted{group, interface == kLoopbackInterface};
  const bool is_member =
      std::find(memberships_.begin(), memberships_.end(), wanted) != memberships_.end();
  if (joins && is_member) return EADDRINUSE;
  if (joins && memberships_.size() == kMostGroups) return ENOBUFS;
  if (!joins && !is_member) return EADDRNOTAVAIL;
  if (joins) {
    memberships_.push_back(wanted);
  } else {
    std::erase(memberships_, wanted);
  }
  return end_ == nullptr ? 0 : end_->set_membership(group, joins, wanted.by_loopback);
}

DatagramOptions DatagramSocket::sending_options() const {
  DatagramOptions options;
  options.reuse_address = options_.number(SOL_SOCKET, SO_REUSEADDR) != 0;
  options.broadcast = options_.number(SOL_SOCKET, SO_BROADCAST) != 0;
  options.multicast_loop = options_.number(IPPROTO_IP, IP_MULTICAST_LOOP) != 0;
  options.multicast_ttl = options_.number(IPPROTO_IP, IP_MULTICAST_TTL);
  options.multicast_interface = Address::v4(
      ntohl(static_cast<std::uint32_t>(options_.number(IPPROTO_IP, IP_MULTICAST_IF))), 0);
  return options;
}

int DatagramSocket::refuse_option(int level, int name) const {
  const int value = options_.number(IPPROTO_IP, IP_MULTICAST_IF);
  if (level != IPPROTO_IP || name != IP_MULTICAST_IF || value == 0) return 0;
  const auto host = ntohl(static_cast<std::uint32_t>(value));
  return host == kLoopback || host == machine().ip() ? 0 : -EADDRNOTAVAIL;
}

}  // namespace fermata::sim::detail
