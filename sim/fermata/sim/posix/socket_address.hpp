// SPDX-License-Identifier: Apache-2.0
#pragma once

// Addresses of sockets as the system spells them, and their values.

#include <sys/socket.h>

#include <optional>
#include <string>

#include "fermata/base/assert.hpp"
#include "fermata/reactor/address.hpp"

namespace fermata::sim::detail {

/// An address of IP that a socket of `family` may be given. Else none, with an errno in `code`.
[[nodiscard]] std::optional<Address> ip_address(int family, const sockaddr* address, socklen_t size,
                                                int& code) noexcept;
/// The path of an address of a Unix socket; an abstract one begins with '@'. Empty when it has
/// none. None, with an errno in `code`, when it is not one.
[[nodiscard]] std::optional<std::string> unix_path(const sockaddr* address, socklen_t size,
                                                   int& code);
/// Whether such a path is other than the name of a file. REQUIRES: it is not empty.
[[nodiscard]] inline bool is_abstract(const std::string& path) noexcept {
  FERMATA_ASSERT(!path.empty());
  return path.front() == '@';
}

/// Writes an address as far as there is room, and how long it is, as getsockname() does. Does
/// nothing when either pointer is null.
void spell(const Address& value, sockaddr* address, socklen_t* size) noexcept;
void spell_unix(const std::string& path, sockaddr* address, socklen_t* size) noexcept;
/// Writes an address into a whole structure.
[[nodiscard]] sockaddr_storage spelled(const Address& value) noexcept;

}  // namespace fermata::sim::detail
