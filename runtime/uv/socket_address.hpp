// SPDX-License-Identifier: Apache-2.0
#pragma once

// Addresses and options as the system spells them.

#include <netinet/in.h>
#include <sys/socket.h>
#include <uv.h>

#include "fermata/runtime/reactor/address.hpp"
#include "fermata/runtime/reactor/socket_option.hpp"

namespace fermata::uv::detail {

inline void set_option(int descriptor, int level, int option) {
  const int on = 1;
  setsockopt(descriptor, level, option, &on, sizeof on);
}

/// Of a TCP socket, or, of buffers, any other. Each answers an error code.
int set_option(int descriptor, SocketOption option, int value);
int get_option(int descriptor, SocketOption option, int& value);

inline sockaddr_in to_native(const Address& address) {
  sockaddr_in native = {};
  native.sin_family = AF_INET;
  native.sin_addr.s_addr = htonl(address.ip());
  native.sin_port = htons(address.port());
  return native;
}

inline Address from_native(const sockaddr_in& native) {
  return {ntohl(native.sin_addr.s_addr), ntohs(native.sin_port)};
}

/// Asks with uv_tcp_getsockname or uv_tcp_getpeername; 0.0.0.0:0 when there is none (any more).
inline Address address_of(const uv_tcp_t* tcp, int (*ask)(const uv_tcp_t*, sockaddr*, int*)) {
  sockaddr_in native = {};
  int size = sizeof native;
  if (ask(tcp, reinterpret_cast<sockaddr*>(&native), &size) != 0) return {};
  return from_native(native);
}

inline Address local_address_of(int descriptor) {
  sockaddr_in native = {};
  socklen_t size = sizeof native;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&native), &size) != 0) return {};
  return from_native(native);
}

}  // namespace fermata::uv::detail
