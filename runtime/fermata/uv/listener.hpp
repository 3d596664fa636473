// SPDX-License-Identifier: Apache-2.0
#pragma once

// Listeners accept by themselves, because libuv answers a shortage of descriptors by dropping
// connections.

#include <string>

#include "fermata/os/socket_listener.hpp"
#include "fermata/uv/loop.hpp"

namespace fermata::uv::detail {

class Listener : public os::SocketListener, private ReadySource {
 protected:
  /// Takes over `descriptor`, a listening socket, also when this throws InputOutputError; its text
  /// says `place`.
  Listener(Loop& loop, int descriptor, const std::string& place, const ListenOptions& options);

  [[nodiscard]] Loop& loop() const noexcept { return loop_; }

 private:
  /// The socket is closed next.
  virtual void before_close() noexcept {}

  void resume_accepting() override;
  void pause_accepting() noexcept override;
  void close_backend() noexcept override;
  void hold() noexcept override { uv_poll_stop(&poll_); }
  void resume() noexcept override { poll(); }
  int poll() noexcept;

  Loop& loop_;
  uv_poll_t poll_;
};

class TcpListener final : public Listener {
 public:
  TcpListener(Loop& loop, const Address& address, const ListenOptions& options);
  [[nodiscard]] Address local_address() const override;

 private:
  Ref<backend::StreamHandle> adopt(int descriptor) override;
};

/// A listener on a Unix socket, whose file is removed with the listener.
class PipeListener final : public Listener {
 public:
  PipeListener(Loop& loop, const backend::PipePath& path, const ListenOptions& options);

 private:
  Ref<backend::StreamHandle> adopt(int descriptor) override;
  void before_close() noexcept override;

  backend::PipePath path_;
};

}  // namespace fermata::uv::detail
