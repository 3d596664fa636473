// SPDX-License-Identifier: Apache-2.0
#pragma once

// TCP for coroutines: byte streams with addresses, and what accepts them.

#include <cstdint>
#include <string_view>

#include "fermata/runtime/io/byte_stream.hpp"
#include "fermata/runtime/io/stream_listener.hpp"
#include "fermata/runtime/reactor/streams.hpp"

namespace fermata {

class TcpStream : public ByteStream {
 public:
  using ByteStream::ByteStream;

  /// May suspend. Throws InputOutputError, for instance "connect to 127.0.0.1:7: Connection
  /// refused".
  [[nodiscard]] static TcpStream connect(const Address& peer, const WaitOptions& options = {},
                                         SourcePlace place = SourcePlace::current());

  /// To the first address of `host` that answers, in the name service's order; the last one's error
  /// when none does. `options` hold for all of it. Throws what resolve() throws, too.
  [[nodiscard]] static TcpStream connect(std::string_view host, std::uint16_t port,
                                         const WaitOptions& options = {},
                                         SourcePlace place = SourcePlace::current());

  [[nodiscard]] Address local_address() const { return handle().local_address(); }
  [[nodiscard]] Address peer_address() const { return handle().peer_address(); }
};

class TcpListener : public StreamListener<TcpStream> {
 public:
  using StreamListener::StreamListener;

  /// Port 0 lets the system choose. Throws InputOutputError, for instance
  /// "listen at 127.0.0.1:80: Permission denied".
  [[nodiscard]] static TcpListener bind(const Address& address, const ListenOptions& options = {});

  [[nodiscard]] Address local_address() const { return handle().local_address(); }
};

}  // namespace fermata
