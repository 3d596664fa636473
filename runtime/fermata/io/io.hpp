// SPDX-License-Identifier: Apache-2.0
#pragma once

// Anything that bytes go through, behind one surface: for code that copies, logs or serves without
// caring what it was given. Which of the five kinds it is is settled when it is made.
//
// Suspension  read and write may suspend; nothing else does.
// Ownership   A value that owns its handle, as the typed classes do; moves only. One that was moved
//             from can be assigned and destroyed; anything else throws UsageError.
// Errors, cancelling, order  Those of the typed class.

#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "fermata/io/file.hpp"
#include "fermata/io/pipe.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/io/tty.hpp"
#include "fermata/io/udp.hpp"

namespace fermata {

using backend::IoType;

/// Operations that are possible now, apart from waiting.
struct IoState {
  bool open = false;
  bool readable = false;
  bool writable = false;
  bool ended = false;    // A stream whose end was read.
  bool appends = false;  // A file that is written at its end only.

  friend bool operator==(const IoState&, const IoState&) = default;
};

class Io {
 public:
  explicit Io(PipeStream stream) : held_(std::move(stream)) {}
  explicit Io(File file) : held_(std::move(file)) {}
  explicit Io(TcpStream stream) : held_(std::move(stream)) {}
  explicit Io(TtyStream stream) : held_(std::move(stream)) {}
  /// A socket that talks to `peer` alone: datagrams of others are dropped when they are read.
  /// Throws UsageError when `peer` has no port.
  Io(UdpSocket socket, const Address& peer);

  /// Waits for some bytes and returns how many came. 0 says that the stream or file ends here, or
  /// that an empty datagram came. A datagram longer than `buffer` is cut.
  std::size_t read(std::span<std::byte> buffer, const WaitOptions& options = {},
                   SourcePlace place = SourcePlace::current());

  /// Writes all of `data`; one datagram, through a socket.
  void write(std::span<const std::byte> data, const WaitOptions& options = {},
             SourcePlace place = SourcePlace::current());
  void write(std::string_view text, const WaitOptions& options = {},
             SourcePlace place = SourcePlace::current()) {
    write(std::as_bytes(std::span(text)), options, place);
  }

  /// Idempotent; who is parked on it fails.
  void close() noexcept;

  [[nodiscard]] IoType type() const { return handle().io_type(); }
  [[nodiscard]] IoState state() const;
  [[nodiscard]] backend::IoHandle& handle() const;

  /// The object that it holds, in its own type: null unless it is a PipeStream, File, TcpStream,
  /// TtyStream or UdpSocket as asked. A standard stream is a TtyStream whatever its type().
  template <class Typed>
  [[nodiscard]] Typed* as() noexcept {
    if constexpr (std::is_same_v<Typed, UdpSocket>) {
      auto* const datagrams = std::get_if<Datagrams>(&held_);
      return datagrams != nullptr ? &datagrams->socket : nullptr;
    } else {
      return std::get_if<Typed>(&held_);
    }
  }

 private:
  struct Datagrams {
    UdpSocket socket;
    Address peer;

    std::size_t read(std::span<std::byte> buffer, const WaitOptions& options, SourcePlace place);
    void write(std::span<const std::byte> data, const WaitOptions& options, SourcePlace place);
    void close() noexcept { socket.close(); }
    [[nodiscard]] backend::DatagramHandle& handle() const { return socket.handle(); }
  };

  std::variant<PipeStream, File, TcpStream, TtyStream, Datagrams> held_;
};

}  // namespace fermata
