// SPDX-License-Identifier: Apache-2.0
#pragma once

// Addresses of sockets, as scripts use and tell them.

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdint>
#include <string>

namespace fermata::test {

/// An address, and its size.
struct Name {
  union {
    sockaddr any;
    sockaddr_in ip;
    sockaddr_in6 ipv6;
    sockaddr_un path;
    sockaddr_storage room;
  };
  socklen_t size;
  Name() noexcept : room{}, size(sizeof room) {}
};

/// An abstract path of this process.
[[nodiscard]] Name path_of(std::uint64_t number);
/// An address of this machine, of either version; the port in the order of the network.
[[nodiscard]] Name loopback(in_port_t port, bool ipv6);
/// Whether it is an address of IP; if so, the port of either version is at the same place.
[[nodiscard]] bool is_ip(const Name& name);
/// Where `for_descriptor` reaches the socket `descriptor`, or a port that is closed. Closed to
/// sockets of another protocol, where the same number may be somebody else's, and to itself: on
/// Linux a TCP socket that connects to its own address is connected with itself, but not in the
/// world.
[[nodiscard]] Name address_of(int descriptor, int for_descriptor, bool ipv6);
/// An address without what differs from run to run: ports, and the number of the process.
[[nodiscard]] std::string name_text(const Name& name);

}  // namespace fermata::test
