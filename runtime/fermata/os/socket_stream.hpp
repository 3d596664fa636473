// SPDX-License-Identifier: Apache-2.0
#pragma once

// What streams on a socket of the system do alike, whoever tells them that it is ready.

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/os/gathered_send.hpp"
#include "fermata/os/socket_address.hpp"
#include "fermata/reactor/stream.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::os {

/// Whether a call that failed with `code` may be made again later.
[[nodiscard]] constexpr bool would_block(int code) noexcept {
  return code == EAGAIN || code == EINTR;
}

/// `Base` is StreamHandle, or what a reactor derives from it.
template <class Base>
class SocketStream : public Base {
 public:
  [[nodiscard]] Address local_address() const override { return local_address_of(socket_); }
  [[nodiscard]] Address peer_address() const override { return peer_address_of(socket_); }

 protected:
  using typename Base::Written;

  /// Without a socket.
  using Base::Base;

  /// -1 before it has one, and once that is closed.
  [[nodiscard]] int socket() const noexcept { return socket_; }
  void set_socket(int socket) noexcept {
    FERMATA_ASSERT(socket_ < 0 && socket >= 0);
    socket_ = socket;
  }
  /// Returns the socket, which is closed next.
  int release_socket() noexcept { return std::exchange(socket_, -1); }

  /// Sends `buffers`, as far as the system takes them now.
  Written send_some(backend::Buffers buffers) noexcept {
    if (buffers.size() != 1) return send_gathered(buffers);
    const std::span<const std::byte> only = buffers.front();
    const ssize_t size = kernel.send(socket_, only.data(), only.size(), kSendFlags);
    if (size < 0) return {0, would_block(errno) ? 0 : errno};
    FERMATA_ASSERT(static_cast<std::size_t>(size) <= only.size());
    return {static_cast<std::size_t>(size), 0};
  }

  /// Receives what has come, and more of it as long as readers wait and not too often. Whoever says
  /// that the socket is ready says it again for the rest. `spare` is for read_target().
  void receive_some(std::span<std::byte> spare) noexcept {
    int calls = 0;
    bool goes_on = true;
    while (goes_on && this->is_reading() && !this->is_closed()) {
      const std::span<std::byte> target = this->read_target(spare);
      const ssize_t size = kernel.recv(socket_, target.data(), target.size(), MSG_DONTWAIT);
      if (size == 0) return this->received_end();
      if (size < 0) return would_block(errno) ? void() : this->receive_failed(errno);
      const auto got = static_cast<std::size_t>(size);
      this->received(target.first(got));
      goes_on = got == target.size() && this->may_serve() && ++calls < kCallsPerTurn;
    }
  }

 private:
  /// Others have their turn after as many.
  static constexpr int kCallsPerTurn = 16;
  static constexpr int kSendFlags = MSG_NOSIGNAL | MSG_DONTWAIT;

  /// Sends several buffers, or none. Not inline: their addresses would take cache lines of each
  /// stack that sends one.
  [[gnu::noinline]] Written send_gathered(backend::Buffers buffers) noexcept {
    std::size_t accepted = 0;
    while (!buffers.empty()) {
      GatheredSend batch;
      while (batch.room() > 0 && !buffers.empty()) {
        batch.add(buffers.front());
        buffers = buffers.subspan(1);
      }
      const ssize_t size = batch.send(socket_, kSendFlags);
      if (size < 0) return {accepted, would_block(errno) ? 0 : errno};
      FERMATA_ASSERT(static_cast<std::size_t>(size) <= batch.size());
      accepted += static_cast<std::size_t>(size);
      if (static_cast<std::size_t>(size) < batch.size()) break;
    }
    return {accepted, 0};
  }

  int apply_option(backend::SocketOption option, int value) override {
    return set_option(socket_, option, value);
  }
  int read_option(backend::SocketOption option, int& value) const override {
    return get_option(socket_, option, value);
  }

  int socket_ = -1;
};

}  // namespace fermata::os
