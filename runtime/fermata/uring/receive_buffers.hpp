// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fermata/uring/ring.hpp"

namespace fermata::uring::detail {

/// Where the kernel puts what is received: buffers that all connections share. It takes one when
/// bytes have come, so that a connection that waits for them has none. Whoever is told of bytes
/// gives their buffer back at once; when there are more completions than buffers, a receive ends
/// with ENOBUFS and is started anew.
class ReceiveBuffers {
 public:
  static constexpr std::uint16_t kGroup = 0;

  /// Throws InputOutputError.
  ReceiveBuffers();
  ReceiveBuffers(const ReceiveBuffers&) = delete;
  ReceiveBuffers& operator=(const ReceiveBuffers&) = delete;
  /// The ring goes first.
  ~ReceiveBuffers();

  /// From now on `ring` receives into them; once. Throws InputOutputError.
  void register_with(Ring& ring);

  /// The bytes of a completion that has a buffer.
  [[nodiscard]] std::span<const std::byte> bytes(int result, std::uint32_t flags) const noexcept;
  /// The kernel may fill it again.
  void give_back(std::uint32_t flags) noexcept;

 private:
  [[nodiscard]] std::byte* buffer(unsigned index) const noexcept;
  void add(unsigned index, int offset) noexcept;

  void* memory_;
  io_uring_buf_ring* entries_;
};

}  // namespace fermata::uring::detail
