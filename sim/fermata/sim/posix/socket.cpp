// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/socket.hpp"

#include <fcntl.h>

#include "fermata/sim/posix/rights.hpp"

namespace fermata::sim::detail {

namespace {

msghdr message_of(std::span<const iovec> pieces) noexcept {
  msghdr message = {};
  message.msg_iov = const_cast<iovec*>(pieces.data());
  message.msg_iovlen = pieces.size();
  return message;
}

}  // namespace

Socket::Socket(Machine& machine, const char* kind, std::uint64_t serial,
               const SocketOptions& options)
    : Description(machine, kind, serial), options_(options) {
  status = O_RDWR;
}

// A Unix socket has options of no other level.
int Socket::option(int level, int name, void* value, socklen_t* size) {
  if (level != SOL_SOCKET) {
    return options_.domain() == AF_UNIX ? -EOPNOTSUPP : options_.get(level, name, value, size);
  }
  if (name == SO_ERROR) return give_number(take_error(), value, size);
  if (name == SO_ACCEPTCONN) return give_number(is_listening() ? 1 : 0, value, size);
  return options_.get(level, name, value, size);
}

int Socket::set_option(int level, int name, const void* value, socklen_t size) {
  if (level != SOL_SOCKET && options_.domain() == AF_UNIX) return -EOPNOTSUPP;
  if (const std::optional<int> done = carry_out_option(level, name, value, size)) return *done;
  const SocketOptions before = options_;
  if (const int code = options_.set(level, name, value, size)) return code;
  if (const int code = refuse_option(level, name)) {
    options_ = before;
    return code;
  }
  options_changed();
  return 0;
}

ssize_t Socket::read(std::span<const iovec> target) {
  if (size_of(target) == 0) return 0;  // Other than recv(), which looks.
  msghdr message = message_of(target);
  std::shared_ptr<Rights> dropped;
  return receive(message, 0, dropped);
}

ssize_t Socket::write(std::span<const iovec> source) {
  std::shared_ptr<Rights> none;
  return source.empty() ? 0 : send(message_of(source), 0, none);
}

}  // namespace fermata::sim::detail
