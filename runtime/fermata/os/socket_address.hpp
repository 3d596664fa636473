// SPDX-License-Identifier: Apache-2.0
#pragma once

// Addresses and options as the system spells them.

#include <netinet/in.h>
#include <sys/socket.h>

#include "fermata/reactor/address.hpp"
#include "fermata/reactor/socket_option.hpp"

namespace fermata::os {

/// Options of a TCP socket; those of buffers work on any other socket too. Each returns an error
/// code.
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

/// The addresses of a socket; 0.0.0.0:0 when it has none, or no longer.
[[nodiscard]] Address local_address_of(int descriptor) noexcept;
[[nodiscard]] Address peer_address_of(int descriptor) noexcept;

}  // namespace fermata::os
