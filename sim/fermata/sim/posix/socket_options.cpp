// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/socket_options.hpp"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include "fermata/sim/posix/clock.hpp"

namespace fermata::sim::detail {

namespace {

/// An option that is a number, its value at the beginning, and what it may be set to.
struct Known {
  int level;
  int name;
  int first;
  int least = INT_MIN;
  int most = INT_MAX;
};

constexpr int kInterfaces = 2;
constexpr int kFlag = 1;  // The most, of what is 1 when it is set to anything but 0.

// Those with an effect are read by the sockets; the others are kept, since programs ask for them,
// and change nothing that the world models.
constexpr std::array kKnown = {
    Known{SOL_SOCKET, SO_REUSEADDR, 0, 0, kFlag},
    Known{SOL_SOCKET, SO_REUSEPORT, 0, 0, kFlag},
    Known{SOL_SOCKET, SO_KEEPALIVE, 0, 0, kFlag},
    Known{SOL_SOCKET, SO_BROADCAST, 0, 0, kFlag},
    Known{SOL_SOCKET, SO_OOBINLINE, 0, 0, kFlag},
    Known{SOL_SOCKET, SO_PRIORITY, 0},
    Known{SOL_SOCKET, SO_DONTROUTE, 0, 0, kFlag},
    Known{SOL_SOCKET, SO_RCVLOWAT, 1},
    Known{SOL_SOCKET, SO_SNDBUF, 16'384},
    Known{SOL_SOCKET, SO_RCVBUF, 131'072},
    Known{IPPROTO_TCP, TCP_NODELAY, 0, 0, kFlag},
    Known{IPPROTO_TCP, TCP_CORK, 0, 0, kFlag},
    Known{IPPROTO_TCP, TCP_QUICKACK, 1, 0, kFlag},
    Known{IPPROTO_TCP, TCP_KEEPIDLE, 7200, 1, 32'767},
    Known{IPPROTO_TCP, TCP_KEEPINTVL, 75, 1, 32'767},
    Known{IPPROTO_TCP, TCP_KEEPCNT, 9, 1, 127},
    Known{IPPROTO_TCP, TCP_SYNCNT, 6, 1, 127},
    Known{IPPROTO_TCP, TCP_USER_TIMEOUT, 0, 0},
    Known{IPPROTO_TCP, TCP_DEFER_ACCEPT, 0},
    Known{IPPROTO_TCP, TCP_MAXSEG, 536},
    Known{IPPROTO_IP, IP_TOS, 0},
    Known{IPPROTO_IP, IP_TTL, 64, 1, 255},
    Known{IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_WANT, IP_PMTUDISC_DONT, IP_PMTUDISC_OMIT},
    Known{IPPROTO_IP, IP_RECVERR, 0, 0, kFlag},
    Known{IPPROTO_IP, IP_MULTICAST_IF, 0},
    Known{IPPROTO_IP, IP_MULTICAST_LOOP, 1, 0, kFlag},
    Known{IPPROTO_IP, IP_MULTICAST_TTL, 1, 0, 255},
    Known{IPPROTO_IPV6, IPV6_V6ONLY, 0, 0, kFlag},
    Known{IPPROTO_IPV6, IPV6_RECVERR, 0, 0, kFlag},
    Known{IPPROTO_IPV6, IPV6_MULTICAST_IF, 0, 0, kInterfaces},
    Known{IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 1, 0, kFlag},
    Known{IPPROTO_IPV6, IPV6_MULTICAST_HOPS, 1, 0, 255},
    Known{IPPROTO_IPV6, IPV6_UNICAST_HOPS, 64, -1, 255},
    Known{IPPROTO_IPV6, IPV6_TCLASS, 0, -1, 255},
};

const Known* find(int level, int name) noexcept {
  const auto found = std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& each) {
    return each.level == level && each.name == name;
  });
  return found == kKnown.end() ? nullptr : &*found;
}

template <class Value>
int give(const Value& whole, void* value, socklen_t* size) noexcept {
  *size = std::min<socklen_t>(*size, sizeof whole);
  std::memcpy(value, &whole, *size);
  return 0;
}

template <class Value>
bool take(Value& whole, const void* value, socklen_t size) noexcept {
  if (value == nullptr || size < sizeof whole) return false;
  std::memcpy(&whole, value, sizeof whole);
  return true;
}

/// Whether only sockets of datagrams have it: how those to groups are sent.
bool is_of_groups(int level, int name) noexcept {
  if (level == IPPROTO_IP) return name == IP_MULTICAST_IF || name == IP_MULTICAST_TTL;
  return level == IPPROTO_IPV6 && (name == IPV6_MULTICAST_IF || name == IPV6_MULTICAST_HOPS);
}

/// The address of an interface, which may be told in three ways.
bool take_interface(int& number, const void* value, socklen_t size) noexcept {
  ip_mreqn long_request = {};
  ip_mreq request = {};
  in_addr address = {};
  if (take(long_request, value, size)) {
    address = long_request.imr_address;
  } else if (take(request, value, size)) {
    address = request.imr_interface;
  } else if (!take(address, value, size)) {
    return false;
  }
  std::memcpy(&number, &address, sizeof number);
  return true;
}

/// The value of a number. A byte is enough for the options of IP, and nothing is 0.
bool take_number(int& number, int level, const void* value, socklen_t size) noexcept {
  if (level != IPPROTO_IP || size >= sizeof number) return take(number, value, size);
  unsigned char byte = 0;
  if (size > 0 && !take(byte, value, size)) return false;
  number = byte;
  return true;
}

timeval time_of(const std::optional<Duration>& limit) noexcept {
  if (!limit) return {};
  const auto seconds = std::chrono::floor<std::chrono::seconds>(*limit);
  const auto rest = std::chrono::duration_cast<std::chrono::microseconds>(*limit - seconds);
  return {.tv_sec = seconds.count(), .tv_usec = rest.count()};
}

/// Zero means forever.
std::optional<Duration> limit_of(const timeval& time) noexcept {
  const Duration limit =
      duration_of(timespec{.tv_sec = time.tv_sec, .tv_nsec = time.tv_usec * 1000});
  return limit > Duration::zero() && limit <= kForever ? std::optional(limit) : std::nullopt;
}

}  // namespace

int give_number(int number, void* value, socklen_t* size) noexcept {
  return give(number, value, size);
}

int SocketOptions::number(int level, int name) const noexcept {
  const auto found = numbers_.find({level, name});
  if (found != numbers_.end()) return found->second;
  const Known* const known = find(level, name);
  return known != nullptr ? known->first : 0;
}

int SocketOptions::get(int level, int name, void* value, socklen_t* size) const {
  if (level == SOL_SOCKET) {
    if (name == SO_TYPE) return give(type_, value, size);
    if (name == SO_DOMAIN) return give(domain_, value, size);
    if (name == SO_PROTOCOL) return give(protocol_, value, size);
    if (name == SO_ACCEPTCONN) return give(0, value, size);
    if (name == SO_LINGER) return give(linger_, value, size);
    if (name == SO_RCVTIMEO) return give(time_of(receive_limit_), value, size);
    if (name == SO_SNDTIMEO) return give(time_of(send_limit_), value, size);
  }
  if (!has(level)) return domain_ == AF_INET ? -EOPNOTSUPP : -ENOPROTOOPT;
  if (find(level, name) == nullptr) return -ENOPROTOOPT;
  const int number = this->number(level, name);
  // So does the system, of the options of IP.
  const bool as_byte = level == IPPROTO_IP && *size > 0 && *size < sizeof number;
  return as_byte ? give(static_cast<unsigned char>(number), value, size)
                 : give(number, value, size);
}

bool SocketOptions::has(int level) const noexcept {
  if (level == IPPROTO_TCP) return protocol_ == IPPROTO_TCP;
  if (level == IPPROTO_IPV6) return domain_ == AF_INET6;
  return true;
}

int SocketOptions::set(int level, int name, const void* value, socklen_t size) {
  if (level == SOL_SOCKET && name == SO_LINGER) {
    return take(linger_, value, size) ? 0 : -EINVAL;
  }
  if (level == SOL_SOCKET && (name == SO_RCVTIMEO || name == SO_SNDTIMEO)) {
    timeval time = {};
    constexpr suseconds_t kMillion = 1'000'000;
    if (!take(time, value, size)) return -EINVAL;
    if (time.tv_usec < 0 || time.tv_usec >= kMillion) return -EDOM;
    (name == SO_RCVTIMEO ? receive_limit_ : send_limit_) = limit_of(time);
    return 0;
  }
  if (!has(level)) return -ENOPROTOOPT;
  if (is_of_groups(level, name) && type_ != SOCK_DGRAM) {
    return level == IPPROTO_IP ? -EINVAL : -ENOPROTOOPT;
  }
  int number = 0;
  const bool is_interface = level == IPPROTO_IP && name == IP_MULTICAST_IF;
  const bool is_read =
      is_interface ? take_interface(number, value, size) : take_number(number, level, value, size);
  if (!is_read) return -EINVAL;
  const Known* const known = find(level, name);
  if (known == nullptr) return -ENOPROTOOPT;
  if (known->least == 0 && known->most == kFlag) number = number != 0 ? 1 : 0;
  if (is_of_groups(level, name) && number == -1) number = known->first;
  if (number < known->least || number > known->most) {
    return level == IPPROTO_IPV6 && name == IPV6_MULTICAST_IF ? -ENODEV : -EINVAL;
  }
  // The system keeps twice as much, for its own use, and says so.
  const bool is_buffer = level == SOL_SOCKET && (name == SO_SNDBUF || name == SO_RCVBUF);
  numbers_[{level, name}] = is_buffer ? 2 * std::clamp(number, 1024, 212'992) : number;
  return 0;
}

}  // namespace fermata::sim::detail
