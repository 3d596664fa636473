// SPDX-License-Identifier: Apache-2.0
#pragma once

// UDP on libuv.

#include "fermata/reactor/datagrams.hpp"
#include "fermata/uv/loop.hpp"

namespace fermata::uv::detail {

class DatagramSocket final : public backend::DatagramHandle, private ReadySource {
 public:
  DatagramSocket(Loop& loop, const Address& multicast_interface);

  /// Throws InputOutputError.
  void bind(const Address& address, const DatagramOptions& options);

  [[nodiscard]] Address local_address() const override;

 private:
  static void provide_buffer(uv_handle_t* handle, std::size_t, uv_buf_t* buffer) noexcept;
  static void on_receive(uv_udp_t* handle, ssize_t size, const uv_buf_t* buffer,
                         const sockaddr* peer, unsigned flags) noexcept;
  static DatagramSocket& self(void* data) noexcept { return *static_cast<DatagramSocket*>(data); }

  int start_receiving() override;
  void stop_receiving() noexcept override;
  int send_now(std::span<const std::byte> data, const Address& peer) override;
  int submit_send(std::span<const std::byte> data, const Address& peer) override;
  int set_membership(const Address& group, bool member) override;
  int apply_option(backend::SocketOption option, int value) override;
  int read_option(backend::SocketOption option, int& value) const override;
  [[nodiscard]] int descriptor() const noexcept;
  void close_backend() noexcept override;
  void hold() noexcept override { uv_udp_recv_stop(&udp_); }
  void resume() noexcept override { uv_udp_recv_start(&udp_, provide_buffer, on_receive); }

  Loop& loop_;
  Address multicast_interface_;
  uv_udp_t udp_;
  uv_udp_send_t send_;
  bool providing_ = false;  // Inside provide_buffer, where libuv does not expect a close.
};

class Datagrams final : public fermata::backend::Datagrams {
 public:
  explicit Datagrams(Loop& loop) : fermata::backend::Datagrams(loop.attachment()), loop_(loop) {}

 private:
  Ref<backend::DatagramHandle> open(const Address& address,
                                    const DatagramOptions& options) override;

  Loop& loop_;
};

}  // namespace fermata::uv::detail
