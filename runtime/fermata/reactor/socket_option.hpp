// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace fermata::backend {

/// Options that can be set for an open socket. Not every kind of handle has each.
enum class SocketOption : std::uint8_t {
  NoDelay,     // 0 or 1: small writes are sent at once
  KeepAlive,   // seconds of silence before the peer is asked whether it lives, up to 32767; 0 never
  SendBuffer,  // bytes, at least 1: what is accepted before the peer has read it
  ReceiveBuffer,  // bytes, at least 1: what is taken in before it is read
  ResetOnClose,   // 0 or 1: closing breaks the connection, and what is not sent yet is lost
};
inline constexpr std::size_t kSocketOptionCount = 5;

/// "no-delay", "keep-alive", "send-buffer", "receive-buffer" or "reset-on-close".
[[nodiscard]] const char* to_string(SocketOption option) noexcept;

}  // namespace fermata::backend
