// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/tcp/failure.hpp"

namespace fermata::loop {

const char* to_string(TcpFailureKind kind) noexcept {
  switch (kind) {
    case TcpFailureKind::Connect:
      return "connect";
    case TcpFailureKind::Send:
      return "send";
    case TcpFailureKind::Refused:
      return "refused";
    case TcpFailureKind::Receive:
      return "receive";
    case TcpFailureKind::Protocol:
      return "protocol";
    case TcpFailureKind::FlushTimeout:
      return "flush-timeout";
    case TcpFailureKind::Silence:
      return "silence";
    case TcpFailureKind::Stalled:
      return "stalled";
    case TcpFailureKind::Handler:
      return "handler";
  }
  return "?";
}

}  // namespace fermata::loop
