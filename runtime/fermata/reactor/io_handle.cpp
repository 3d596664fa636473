// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/io_handle.hpp"

namespace fermata::backend {

const char* to_string(IoType type) noexcept {
  switch (type) {
    case IoType::Pipe:
      return "PIPE";
    case IoType::File:
      return "FILE";
    case IoType::Tcp:
      return "TCP";
    case IoType::Udp:
      return "UDP";
    case IoType::Tty:
      return "TTY";
  }
  return "IO";
}

}  // namespace fermata::backend
