// SPDX-License-Identifier: Apache-2.0
#pragma once

// Streams as libuv has them: what they have in common, TCP, and pipes (Unix sockets and anonymous
// ones).

#include "fermata/os/socket_stream.hpp"
#include "fermata/reactor/pipe_path.hpp"
#include "fermata/reactor/stream.hpp"
#include "fermata/uv/loop.hpp"

namespace fermata::uv::detail {

class Stream : public backend::StreamHandle, private ReadySource {
 protected:
  /// `stream` belongs to the derived class, which initialises it next.
  Stream(Loop& loop, backend::IoType type, backend::Direction direction, uv_stream_t* stream);

  /// The end of a connect.
  static void on_connected(uv_connect_t* request, int status) noexcept;

  /// -1 when there is none yet.
  [[nodiscard]] int descriptor() const noexcept;

  [[nodiscard]] Loop& loop() noexcept { return loop_; }
  /// The stream is readable. One that reads by itself does so here and returns true.
  virtual bool read_by_itself() noexcept { return false; }
  /// The descriptor is closed next.
  virtual void before_close() noexcept {}
  void submit_shutdown() noexcept override;

  /// For the connect, which comes before all writes.
  [[nodiscard]] uv_connect_t& connect_request() noexcept;

 private:
  /// A stream has one request at a time: the connect, a write after another, the shutdown.
  union Request {
    uv_connect_t connect;
    uv_write_t write;
    uv_shutdown_t shutdown;
  };

  static void provide_buffer(uv_handle_t* handle, std::size_t, uv_buf_t* buffer) noexcept;
  static void on_read(uv_stream_t* handle, ssize_t size, const uv_buf_t* buffer) noexcept;
  static Stream& self(void* data) noexcept { return *static_cast<Stream*>(data); }

  int start_reading() override;
  void stop_reading() noexcept override;
  Written try_write(backend::Buffers buffers) override;
  int submit_write(std::span<const std::byte> data) override;
  [[nodiscard]] int file_target() const noexcept override { return descriptor(); }
  void file_target_free() noexcept override { close_backend(); }
  void close_backend() noexcept override;
  void hold() noexcept override { uv_read_stop(stream_); }
  void resume() noexcept override { uv_read_start(stream_, provide_buffer, on_read); }

  Loop& loop_;
  uv_stream_t* stream_;
  Request request_;
  bool providing_ = false;  // Inside provide_buffer, where libuv expects no close and no stop.
  bool stops_ = false;      // Asked to stop reading inside it; on_read does.
};

/// Sends and receives by itself once libuv says that it is ready: send() and recv() cost the system
/// less than the write() and read() of libuv.
class TcpSocket final : public os::SocketStream<Stream> {
 public:
  explicit TcpSocket(Loop& loop);

  /// Takes over a connected socket. Throws InputOutputError; then the socket is still the caller's.
  void adopt(int descriptor);
  /// Throws InputOutputError when it fails at once.
  void connect(const Address& peer);

 private:
  Written try_write(backend::Buffers buffers) override { return send_some(buffers); }
  bool read_by_itself() noexcept override;
  void before_close() noexcept override { static_cast<void>(release_socket()); }

  uv_tcp_t tcp_;
};

class Pipe : public Stream {
 public:
  explicit Pipe(Loop& loop, backend::Direction direction = backend::Direction::Both);

  /// Takes over a connected Unix socket, or an end of a pipe. Throws InputOutputError; then the
  /// descriptor is still the caller's.
  void adopt(int descriptor);
  void connect(const backend::PipePath& peer) noexcept;

 private:
  void submit_shutdown() noexcept override;

  uv_pipe_t pipe_;
};

/// The stream on one end of a pipe; the descriptor is closed when it cannot be made.
[[nodiscard]] Ref<backend::StreamHandle> adopt_end_of_pipe(Loop& loop, int descriptor,
                                                           backend::Direction direction);

}  // namespace fermata::uv::detail
