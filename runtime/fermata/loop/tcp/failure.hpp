// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <string>

namespace fermata::loop {

enum class TcpFailureKind : std::uint8_t {
  Connect = 1,   // no connection came about
  Send = 2,      // a write failed
  Refused,       // the send queue is full; the connection goes on
  Receive,       // a read failed
  Protocol,      // the peer does not keep to the protocol, or a package is too large
  FlushTimeout,  // what close() left to send did not go away in time
  Silence,       // no byte from the peer for too long
  Stalled,       // bytes to send that did not go away for too long
  Handler,       // a handler of the connection has thrown
};

/// "connect", "send", "refused", ...
[[nodiscard]] const char* to_string(TcpFailureKind kind) noexcept;

/// Why on_error is called. All but Refused end the connection.
struct TcpFailure {
  TcpFailureKind kind = TcpFailureKind::Connect;
  /// A positive errno value, 0 when there is none.
  int code = 0;
  std::string detail;
  /// The exception that was thrown; null when there was none.
  std::exception_ptr error;
};

}  // namespace fermata::loop
