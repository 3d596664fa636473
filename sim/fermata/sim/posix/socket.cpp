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
  msghdr message = message_of(target);
  return receive(message, 0);
}

ssize_t Socket::write(std::span<const iovec> source) { return send(message_of(source), 0); }

}  // namespace fermata::sim::detail
