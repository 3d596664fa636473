// SPDX-License-Identifier: Apache-2.0
#pragma once

// TCP for coroutines: byte streams with addresses, and what accepts them.

#include <cstdint>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#include "fermata/io/byte_stream.hpp"
#include "fermata/io/stream_listener.hpp"
#include "fermata/reactor/streams.hpp"

namespace fermata {

struct CloseOptions {
  /// How long to wait for the peer's end of stream first.
  Duration linger = Duration::zero();
};

class TcpStream : public ByteStream {
 public:
  using ByteStream::ByteStream;

  /// May suspend. Throws InputOutputError, for instance "connect to 127.0.0.1:7: Connection
  /// refused". Programs expect such errors: they are thrown in the caller's own frame, which halves
  /// the unwinder's work.
  [[nodiscard, gnu::always_inline]] static TcpStream connect(
      const Address& peer, const WaitOptions& options = {},
      SourcePlace place = SourcePlace::current()) {
    std::exception_ptr error;
    TcpStream stream = open(peer, options, place, error);
    if (error) [[unlikely]] {
      std::rethrow_exception(std::move(error));
    }
    return stream;
  }

  /// To the first address of `host` that answers, in the name service's order; the last one's error
  /// when none does. `options` hold for all of it. Throws what resolve() throws, too.
  [[nodiscard]] static TcpStream connect(std::string_view host, std::uint16_t port,
                                         const WaitOptions& options = {},
                                         SourcePlace place = SourcePlace::current());

  [[nodiscard]] Address local_address() const { return handle().local_address(); }
  [[nodiscard]] Address peer_address() const { return handle().peer_address(); }

  // --- options; each throws InputOutputError on a closed stream ---

  /// Whether small writes are sent at once; from the beginning they are.
  void set_no_delay(bool on) { handle().set_option(backend::SocketOption::NoDelay, on ? 1 : 0); }
  [[nodiscard]] bool no_delay() const {
    return handle().option(backend::SocketOption::NoDelay) != 0;
  }

  /// After `idle` of silence the system begins to ask the peer whether it lives, and breaks the
  /// connection when it does not answer; nothing for never, as from the beginning. Whole seconds, 1
  /// to 32767; UsageError otherwise.
  void set_keep_alive(std::optional<Duration> idle);
  [[nodiscard]] std::optional<Duration> keep_alive() const;

  /// In bytes: what the system takes of writes, and of the peer, ahead of the other side. It may
  /// make more of it, or stop at a limit of its own; the getters tell. Throws UsageError for 0.
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

  // --- closing ---

  /// Closes at once, as the destructor does. If bytes of the peer are unread, or come later, the
  /// system breaks the connection, and the peer loses what was not delivered to it yet.
  using ByteStream::close;
  /// Lets everything that was written arrive: ends the writing side, drops what the peer still
  /// sends until it ends too, and closes; after `linger` at the latest, whatever came. Returns
  /// whether the peer has ended. May suspend; one that is cancelled has closed. Throws UsageError
  /// for a negative time.
  bool close(const CloseOptions& options, SourcePlace place = SourcePlace::current());

  /// Closing, also by the destructor, breaks the connection: the peer gets "Connection reset by
  /// peer" instead of the end of the stream, and what is not sent yet is lost.
  void set_reset_on_close(bool on) {
    handle().set_option(backend::SocketOption::ResetOnClose, on ? 1 : 0);
  }
  [[nodiscard]] bool reset_on_close() const {
    return handle().option(backend::SocketOption::ResetOnClose) != 0;
  }
  /// Closes so. Nothing on a closed stream.
  void reset();

 private:
  /// Empty when there is an `error`.
  static TcpStream open(const Address& peer, const WaitOptions& options, const SourcePlace& place,
                        std::exception_ptr& error);
};

class TcpListener : public detail::StreamListener<TcpStream> {
 public:
  using StreamListener::StreamListener;

  /// Port 0 lets the system choose. Throws InputOutputError, for instance
  /// "listen at 127.0.0.1:80: Permission denied".
  [[nodiscard]] static TcpListener bind(const Address& address, const ListenOptions& options = {},
                                        SourcePlace place = SourcePlace::current());

  [[nodiscard]] Address local_address() const { return handle().local_address(); }
};

}  // namespace fermata
