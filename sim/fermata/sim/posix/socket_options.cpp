// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/socket_options.hpp"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace fermata::sim::detail {

namespace {

/// An option that is a number, and its value at the beginning.
struct Known {
  int level;
  int name;
  int first;
};

// Those with an effect are read by the sockets; the others are kept, since programs ask for them,
// and change nothing that the world models.
constexpr std::array kKnown = {
    Known{SOL_SOCKET, SO_REUSEADDR, 0},
    Known{SOL_SOCKET, SO_REUSEPORT, 0},
    Known{SOL_SOCKET, SO_KEEPALIVE, 0},
    Known{SOL_SOCKET, SO_BROADCAST, 0},
    Known{SOL_SOCKET, SO_OOBINLINE, 0},
    Known{SOL_SOCKET, SO_PRIORITY, 0},
    Known{SOL_SOCKET, SO_DONTROUTE, 0},
    Known{SOL_SOCKET, SO_RCVLOWAT, 1},
    Known{SOL_SOCKET, SO_SNDBUF, 16'384},
    Known{SOL_SOCKET, SO_RCVBUF, 131'072},
    Known{IPPROTO_TCP, TCP_NODELAY, 0},
    Known{IPPROTO_TCP, TCP_CORK, 0},
    Known{IPPROTO_TCP, TCP_QUICKACK, 1},
    Known{IPPROTO_TCP, TCP_KEEPIDLE, 7200},
    Known{IPPROTO_TCP, TCP_KEEPINTVL, 75},
    Known{IPPROTO_TCP, TCP_KEEPCNT, 9},
    Known{IPPROTO_TCP, TCP_SYNCNT, 6},
    Known{IPPROTO_TCP, TCP_USER_TIMEOUT, 0},
    Known{IPPROTO_TCP, TCP_DEFER_ACCEPT, 0},
    Known{IPPROTO_TCP, TCP_MAXSEG, 536},
    Known{IPPROTO_IP, IP_TOS, 0},
    Known{IPPROTO_IP, IP_TTL, 64},
    Known{IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_WANT},
    Known{IPPROTO_IPV6, IPV6_V6ONLY, 0},
    Known{IPPROTO_IPV6, IPV6_UNICAST_HOPS, 64},
    Known{IPPROTO_IPV6, IPV6_TCLASS, 0},
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

timeval time_of(const std::optional<Duration>& limit) noexcept {
  if (!limit) return {};
  const auto seconds = std::chrono::floor<std::chrono::seconds>(*limit);
  const auto rest = std::chrono::duration_cast<std::chrono::microseconds>(*limit - seconds);
  return {.tv_sec = seconds.count(), .tv_usec = rest.count()};
}

/// Zero means forever.
std::optional<Duration> limit_of(const timeval& time) noexcept {
  const Duration limit =
      std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  return limit > Duration::zero() ? std::optional(limit) : std::nullopt;
}

}  // namespace

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
    if (name == SO_LINGER) return give(linger_, value, size);
    if (name == SO_RCVTIMEO) return give(time_of(receive_limit_), value, size);
    if (name == SO_SNDTIMEO) return give(time_of(send_limit_), value, size);
  }
  return find(level, name) == nullptr ? -ENOPROTOOPT : give(number(level, name), value, size);
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
  const Known* const known = find(level, name);
  if (known == nullptr) return -ENOPROTOOPT;
  int number = 0;
  if (!take(number, value, size)) return -EINVAL;
  // The system keeps twice as much, for its own use, and says so.
  const bool is_buffer = level == SOL_SOCKET && (name == SO_SNDBUF || name == SO_RCVBUF);
  numbers_[{level, name}] = is_buffer ? 2 * std::clamp(number, 1024, 212'992) : number;
  return 0;
}

}  // namespace fermata::sim::detail
