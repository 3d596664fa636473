// SPDX-License-Identifier: Apache-2.0
#pragma once

// TCP over completions.
//
// Reading   A receive stays in flight and completes again and again. When nobody reads, some more
//           completions are taken before it is cancelled; the next reader starts another.
// Writing   When a turn has told little, a write is a system call of its own. Else small writes are
//           copied to a block, which leaves with the next turn or before; while the kernel does not
//           take it, nothing more is accepted.
// Closing   What was accepted leaves first. Then the operations end, and then the descriptor is
//           closed: the kernel would keep it open for them.

#include <memory>

#include "fermata/os/socket_address.hpp"
#include "fermata/os/socket_listener.hpp"
#include "fermata/os/socket_stream.hpp"
#include "fermata/reactor/stream.hpp"
#include "fermata/uring/loop.hpp"

namespace fermata::uring::detail {

class TcpSocket final : public os::SocketStream<backend::StreamHandle>, private PutOff {
 public:
  /// Takes over a socket.
  TcpSocket(Loop& loop, int descriptor);

  /// is_connected() follows, in a turn.
  void connect(const Address& peer);

 private:
  ~TcpSocket() override;

  int start_reading() override;
  void stop_reading() noexcept override;
  Written try_write(backend::Buffers buffers) override;
  int submit_write(std::span<const std::byte> data) override;
  void submit_shutdown() noexcept override;
  void close_backend() noexcept override;

  void start() noexcept override;
  void on_connected(int result, std::uint32_t flags) noexcept;
  void on_received(int result, std::uint32_t flags) noexcept;
  void on_sent(int result, std::uint32_t flags) noexcept;

  void start_receive() noexcept;
  void take_received(int result, std::uint32_t flags) noexcept;

  /// Copies to the block. REQUIRES: there is room.
  void collect(backend::Buffers buffers);
  /// Sends the block and `buffers` now, as far as the kernel takes them. REQUIRES: there is a
  /// block.
  Written send_behind_block(backend::Buffers buffers);
  [[nodiscard]] std::span<const std::byte> in_block() const noexcept;
  [[nodiscard]] std::span<const std::byte> unsent() const noexcept {
    return block_ ? in_block() : unwritten_;
  }
  /// `size` bytes of unsent() have left.
  void sent(std::size_t size) noexcept;
  void drop_block() noexcept;
  void finish_close() noexcept;

  Loop& loop_;
  std::uint16_t block_begin_ = 0;
  std::uint16_t block_end_ = 0;
  std::uint8_t unread_ = 0;  // Completions that came while nobody read.
  bool reading_ = false;
  bool shuts_ = false;  // Behind what is unsent.
  std::unique_ptr<SendBlock> block_;
  std::span<const std::byte> unwritten_;     // Behind the block.
  std::unique_ptr<os::NativeAddress> peer_;  // While connecting.
  OperationOf<TcpSocket, &TcpSocket::on_received> receive_{*this};
  OperationOf<TcpSocket, &TcpSocket::on_sent> send_{*this};
  OperationOf<TcpSocket, &TcpSocket::on_connected> connect_{*this};
};

class TcpListener final : public os::SocketListener {
 public:
  /// Throws InputOutputError.
  TcpListener(Loop& loop, const Address& address, const ListenOptions& options);

  [[nodiscard]] Address local_address() const override;

 private:
  ~TcpListener() override = default;

  Ref<backend::StreamHandle> adopt(int descriptor) override;
  void resume_accepting() override;
  void pause_accepting() noexcept override;
  void close_backend() noexcept override;
  void on_accepted(int result, std::uint32_t flags) noexcept;
  void finish_close() noexcept;

  Loop& loop_;
  OperationOf<TcpListener, &TcpListener::on_accepted> accept_{*this};
};

}  // namespace fermata::uring::detail
