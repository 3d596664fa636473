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
int set_option(int descriptor, backend::SocketOption option, int value);
int get_option(int descriptor, backend::SocketOption option, int& value);

/// An address as calls of the system take it.
struct NativeAddress {
  explicit NativeAddress(const Address& address) noexcept;

  [[nodiscard]] const sockaddr* get() const noexcept {
    return reinterpret_cast<const sockaddr*>(&storage);
  }
  [[nodiscard]] int family() const noexcept { return storage.ss_family; }

  sockaddr_storage storage = {};
  socklen_t size = 0;
};

/// 0.0.0.0:0 unless it is one of IP.
[[nodiscard]] Address from_native(const sockaddr& native) noexcept;

/// The addresses of a socket; 0.0.0.0:0 when it has none, or no longer.
[[nodiscard]] Address local_address_of(int descriptor) noexcept;
[[nodiscard]] Address peer_address_of(int descriptor) noexcept;

}  // namespace fermata::os
