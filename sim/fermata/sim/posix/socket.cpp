// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/socket.hpp"

namespace fermata::sim::detail {

namespace {

msghdr message_of(std::span<const iovec> pieces) noexcept {
  msghdr message = {};
  message.msg_iov = const_cast<iovec*>(pieces.data());
  message.msg_iovlen = pieces.size();
  return message;
}

}  // namespace

ssize_t Socket::read(std::span<const iovec> target) {
  if (size_of(target) == 0) return 0;  // Other than recv(), which looks.
  msghdr message = message_of(target);
  return receive(message, 0);
}

ssize_t Socket::write(std::span<const iovec> source) {
  return source.empty() ? 0 : send(message_of(source), 0);
}

}  // namespace fermata::sim::detail
