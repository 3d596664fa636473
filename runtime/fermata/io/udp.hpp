// SPDX-License-Identifier: Apache-2.0
#pragma once

// UDP for coroutines.
//
// Suspension  send_to and receive may suspend; nothing else does.
// Ownership   A value that owns its socket; the destructor closes it and never suspends. Who is
//             parked on one that closes gets InputOutputError "Stream was closed".
// Cancelling  A receive that is cancelled or times out loses no datagram; a send that does goes on,
//             only its report is lost.
// Promises    A datagram arrives whole or not at all, late, twice or out of order; a send that
//             succeeds says nothing of its arrival. Nobody at the other end is not an error.

#include <cstddef>
#include <span>
#include <string_view>

#include "fermata/core/suspend.hpp"
#include "fermata/io/handle_owner.hpp"
#include "fermata/reactor/datagrams.hpp"

namespace fermata {

using backend::Datagram;

class UdpSocket : public detail::HandleOwner<backend::DatagramHandle> {
 public:
  using HandleOwner::HandleOwner;

  /// Port 0 lets the system choose. Throws InputOutputError, for instance
  /// "bind 127.0.0.1:53: Permission denied".
  [[nodiscard]] static UdpSocket bind(const Address& address, const DatagramOptions& options = {},
                                      SourcePlace place = SourcePlace::current());

  /// Returns when the system has accepted all of `data` as one datagram, which may be empty.
  /// Throws UsageError when it is longer than kDatagramMax.
  void send_to(std::span<const std::byte> data, const Address& peer,
               const WaitOptions& options = {}, SourcePlace place = SourcePlace::current());
  void send_to(std::string_view text, const Address& peer, const WaitOptions& options = {},
               SourcePlace place = SourcePlace::current()) {
    send_to(std::as_bytes(std::span(text)), peer, options, place);
  }

  /// Sends at once or not at all; returns whether it did.
  bool try_send_to(std::span<const std::byte> data, const Address& peer) {
    return handle().try_send(data, peer);
  }
  bool try_send_to(std::string_view text, const Address& peer) {
    return try_send_to(std::as_bytes(std::span(text)), peer);
  }

  /// Waits for a datagram. Concurrent readers are served in their order. Throws UsageError when
  /// `buffer` is empty.
  Datagram receive(std::span<std::byte> buffer, const WaitOptions& options = {},
                   SourcePlace place = SourcePlace::current());

  /// From now on the socket gets what is sent to `group`, such as "239.1.2.3", and its port. It
  /// has to be bound to 0.0.0.0. Throws UsageError for an address that is not a multicast group,
  /// InputOutputError when it was joined before.
  void join(std::string_view group) { handle().join(Address(group, 0)); }
  /// Throws InputOutputError when it was not joined.
  void leave(std::string_view group) { handle().leave(Address(group, 0)); }

  /// In bytes, as those of TcpStream: what arrives when the receive buffer is full is lost.
  void set_send_buffer(int size) { handle().set_option(backend::SocketOption::SendBuffer, size); }
  void set_receive_buffer(int size) {
    handle().set_option(backend::SocketOption::ReceiveBuffer, size);
  }
  [[nodiscard]] int send_buffer() const {
    return handle().option(backend::SocketOption::SendBuffer);
  }
  [[nodiscard]] int receive_buffer() const {
    return handle().option(backend::SocketOption::ReceiveBuffer);
  }

  [[nodiscard]] Address local_address() const { return handle().local_address(); }
};

}  // namespace fermata
