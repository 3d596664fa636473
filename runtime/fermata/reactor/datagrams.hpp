// SPDX-License-Identifier: Apache-2.0
#pragma once

// The part of a reactor that makes sockets for datagrams.

#include "fermata/reactor/datagram.hpp"

namespace fermata {

struct DatagramOptions {
  /// Several sockets that all say so may share the address. A datagram to one machine goes to the
  /// one that was bound last, a datagram to a group to every member.
  bool reuse_address = false;
  /// The socket may send to 255.255.255.255.
  bool broadcast = false;
  /// How many networks a datagram to one machine may cross, 1 to 255.
  int ttl = 64;
  /// Whether datagrams to a group also reach members on the sender's machine. Through the loopback
  /// interface they always do.
  bool multicast_loop = true;
  /// How many networks a datagram to a group may cross, 0 to 255; 0 keeps it on the machine.
  int multicast_ttl = 1;
  /// The machine's address on the network where groups are joined and sent to; 0.0.0.0 lets the
  /// system choose. Its port is not looked at.
  Address multicast_interface;
};

namespace backend {

class Datagrams {
 public:
  virtual ~Datagrams() = default;

  /// Port 0 lets the system choose. Throws InputOutputError naming the address, for instance when
  /// it is in use, and UsageError naming an option out of its range.
  [[nodiscard]] Ref<DatagramHandle> bind(const Address& address,
                                         const DatagramOptions& options = {});

 protected:
  explicit Datagrams(detail::Attachment& attachment) noexcept : attachment_(attachment) {}

  /// The hook: a socket that is bound and does not receive yet. Throws InputOutputError.
  virtual Ref<DatagramHandle> open(const Address& address, const DatagramOptions& options) = 0;

  detail::Attachment& attachment_;
};

}  // namespace backend

}  // namespace fermata
