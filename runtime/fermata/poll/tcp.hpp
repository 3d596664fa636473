// SPDX-License-Identifier: Apache-2.0
#pragma once

// TCP over readiness: system calls that do not block, and a watch for when they would.

#include "fermata/os/socket_listener.hpp"
#include "fermata/os/socket_stream.hpp"
#include "fermata/poll/watches.hpp"
#include "fermata/reactor/stream.hpp"

namespace fermata::poll::detail {

class TcpSocket final : public os::SocketStream<backend::StreamHandle>, private Watcher {
 public:
  /// Takes over a socket that does not block. Throws InputOutputError, with EMFILE for a number
  /// that the backend cannot watch; then the socket is still the caller's.
  TcpSocket(Watches& watches, int descriptor);

  /// is_connected() follows, in a turn. Throws InputOutputError when it fails at once.
  void connect(const Address& peer);

 private:
  ~TcpSocket() override = default;

  int start_reading() override;
  void stop_reading() noexcept override;
  Written try_write(backend::Buffers buffers) override { return send_some(buffers); }
  int submit_write(std::span<const std::byte> data) override;
  void submit_shutdown() noexcept override;
  void close_backend() noexcept override;

  void on_ready(PollMask mask) noexcept override;
  void finish_connect() noexcept;
  void write_some() noexcept;

  /// Watches for what is waited for now; answers an error code.
  int update_watch() noexcept;

  Watches& watches_;
  std::span<const std::byte> unwritten_;
  bool connecting_ = false;
  bool reading_ = false;
};

class TcpListener final : public os::SocketListener, private Watcher {
 public:
  /// Throws InputOutputError.
  TcpListener(Watches& watches, const Address& address, const ListenOptions& options);

  [[nodiscard]] Address local_address() const override;

 private:
  Ref<backend::StreamHandle> adopt(int descriptor) override;
  void resume_accepting() override;
  void pause_accepting() noexcept override;
  void close_backend() noexcept override;
  void on_ready(PollMask mask) noexcept override;

  Watches& watches_;
};

}  // namespace fermata::poll::detail
