// SPDX-License-Identifier: Apache-2.0
#pragma once

// TCP for coroutines.
//
// Suspension  connect, accept, read and write may suspend; nothing else does.
// Ownership   Values that own their connection; the destructor closes it and never suspends. Who is
//             parked on one that closes gets InputOutputError "Stream was closed".
// Cancelling  A read that is cancelled or times out loses no byte; a write that does goes on, only
//             its report is lost; an accept passes its connection on.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "fermata/runtime/core/suspend.hpp"
#include "fermata/runtime/reactor/streams.hpp"

namespace fermata {

class TcpStream {
 public:
  /// Throws InputOutputError, for instance "connect to 127.0.0.1:7: Connection refused".
  [[nodiscard]] static TcpStream connect(const Address& peer, const WaitOptions& options = {},
                                         SourcePlace place = SourcePlace::current());

  explicit TcpStream(Ref<StreamHandle> handle) noexcept : handle_(std::move(handle)) {}
  TcpStream(TcpStream&& other) noexcept = default;
  TcpStream& operator=(TcpStream&& other) noexcept;
  ~TcpStream() { close(); }

  /// Waits for some bytes and returns how many came: at least 1, or 0 at the end of the stream.
  /// Concurrent readers are served in their order.
  std::size_t read(std::span<std::byte> buffer, const WaitOptions& options = {},
                   SourcePlace place = SourcePlace::current());

  /// Fills `buffer`. Throws InputOutputError "Stream ended after 3 of 8 bytes" when it cannot.
  void read_exact(std::span<std::byte> buffer, const WaitOptions& options = {},
                  SourcePlace place = SourcePlace::current());

  /// Returns when the system has accepted all of `data`.
  void write(std::span<const std::byte> data, const WaitOptions& options = {},
             SourcePlace place = SourcePlace::current());
  void write(std::string_view text, const WaitOptions& options = {},
             SourcePlace place = SourcePlace::current()) {
    write(std::as_bytes(std::span(text)), options, place);
  }

  /// Writes what the system accepts at once, at least one byte, and returns how many.
  [[nodiscard]] std::size_t write_some(std::span<const std::byte> data,
                                       const WaitOptions& options = {},
                                       SourcePlace place = SourcePlace::current());

  /// Ends the writing side, behind everything written so far; reading goes on.
  void shutdown_write() { handle().shutdown_write(); }

  /// Idempotent; what is not sent yet is dropped.
  void close() noexcept;

  [[nodiscard]] bool is_open() const noexcept { return handle_ && !handle_->closed(); }
  [[nodiscard]] Address local_address() const { return handle().local_address(); }
  [[nodiscard]] Address peer_address() const { return handle().peer_address(); }
  /// Throws UsageError on a value that was moved from.
  [[nodiscard]] StreamHandle& handle() const;

 private:
  Ref<StreamHandle> handle_;
};

class TcpListener {
 public:
  /// Port 0 lets the system choose. Throws InputOutputError, for instance
  /// "listen at 127.0.0.1:80: Permission denied".
  [[nodiscard]] static TcpListener bind(const Address& address, const ListenOptions& options = {});

  explicit TcpListener(Ref<ListenerHandle> handle) noexcept : handle_(std::move(handle)) {}
  TcpListener(TcpListener&& other) noexcept = default;
  TcpListener& operator=(TcpListener&& other) noexcept;
  ~TcpListener() { close(); }

  /// The next connection; empty when the listener is closed, also while this waits.
  [[nodiscard]] std::optional<TcpStream> accept(const WaitOptions& options = {},
                                                SourcePlace place = SourcePlace::current());

  /// Idempotent; connections that nobody has accepted are closed.
  void close() noexcept;

  [[nodiscard]] bool is_open() const noexcept { return handle_ && !handle_->closed(); }
  [[nodiscard]] Address local_address() const { return handle().local_address(); }
  /// Throws UsageError on a value that was moved from.
  [[nodiscard]] ListenerHandle& handle() const;

 private:
  Ref<ListenerHandle> handle_;
};

}  // namespace fermata
