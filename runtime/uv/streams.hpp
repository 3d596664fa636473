// SPDX-License-Identifier: Apache-2.0
#pragma once

// TCP. Streams are libuv's; listeners accept by themselves, because libuv answers a shortage of
// descriptors by dropping connections.

#include "fermata/runtime/reactor/streams.hpp"
#include "fermata/runtime/uv/loop.hpp"

namespace fermata::uv::detail {

class Stream final : public StreamHandle {
 public:
  explicit Stream(Loop& loop);

  /// Takes over a connected socket. Throws InputOutputError; then the socket is still the caller's.
  void adopt(int descriptor);
  /// Throws InputOutputError when it fails at once.
  void connect(const Address& peer);

  [[nodiscard]] Address local_address() const override;
  [[nodiscard]] Address peer_address() const override;

 private:
  static void provide_buffer(uv_handle_t* handle, std::size_t, uv_buf_t* buffer) noexcept;
  static void on_read(uv_stream_t* handle, ssize_t size, const uv_buf_t* buffer) noexcept;
  static Stream& self(void* data) noexcept { return *static_cast<Stream*>(data); }

  int start_reading() override;
  void stop_reading() noexcept override;
  Written try_write(std::span<const std::byte> data) override;
  int submit_write(std::span<const std::byte> data) override;
  void submit_shutdown() noexcept override;
  void close_backend() noexcept override;

  [[nodiscard]] uv_stream_t* stream() noexcept { return reinterpret_cast<uv_stream_t*>(&tcp_); }

  Loop& loop_;
  uv_tcp_t tcp_;
  uv_connect_t connect_;
  uv_write_t write_;
  uv_shutdown_t shutdown_;
  bool providing_ = false;  // Inside provide_buffer, where libuv does not expect a close.
};

class Listener final : public ListenerHandle {
 public:
  Listener(Loop& loop, const Address& address, const ListenOptions& options);

  [[nodiscard]] Address local_address() const override;

 private:
  void resume_accepting() override;
  void pause_accepting() noexcept override;
  void close_backend() noexcept override;
  void accept_some() noexcept;

  Loop& loop_;
  int descriptor_;
  uv_poll_t poll_;
};

class Streams final : public fermata::Streams {
 public:
  explicit Streams(Loop& loop) : fermata::Streams(loop.attachment()), loop_(loop) {}

 private:
  Ref<ListenerHandle> open_listener(const Address& address, const ListenOptions& options) override;
  Ref<StreamHandle> open_connection(const Address& peer) override;

  Loop& loop_;
};

}  // namespace fermata::uv::detail
