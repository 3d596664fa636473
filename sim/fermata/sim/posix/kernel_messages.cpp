// SPDX-License-Identifier: Apache-2.0

// What sockets send and receive.

#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <span>

#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/posix/kernel_calls.hpp"
#include "fermata/sim/posix/rights.hpp"

namespace fermata::sim::detail {

// A message with descriptors ends what is received at once.
ssize_t SimKernel::receive(int descriptor, msghdr& message, int flags) {
  return with_waiting(
      "recv", descriptor, [&](const std::shared_ptr<Description>& found) -> ssize_t {
        Socket* const socket = found->as_socket();
        if (socket == nullptr) return -ENOTSOCK;
        const bool whole =
            (flags & MSG_WAITALL) != 0 && (flags & MSG_PEEK) == 0 && !socket->keeps_boundaries();
        Way way{"recv", descriptor, EPOLLIN | EPOLLRDHUP, blocks(*found, flags), whole};
        const std::span<const iovec> target(message.msg_iov, message.msg_iovlen);
        std::shared_ptr<Rights> rights;
        const ssize_t size =
            transfer(way, found, found->read_limit(), target, [&](std::span<const iovec> left) {
              msghdr part = message;
              part.msg_iov = const_cast<iovec*>(left.data());
              part.msg_iovlen = left.size();
              const int asked = flags & ~(MSG_WAITALL | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
              const ssize_t result = socket->receive(part, asked, rights);
              if (rights != nullptr) way.whole = false;
              if (result < 0) return result;
              message.msg_namelen = part.msg_namelen;
              message.msg_flags = part.msg_flags;
              return result;
            });
        if (size >= 0) hand_over(rights.get(), table_, message, flags);
        return size;
      });
}

ssize_t SimKernel::send(int descriptor, const msghdr& message, int flags) {
  return with_waiting(
      "send", descriptor, [&](const std::shared_ptr<Description>& found) -> ssize_t {
        Socket* const socket = found->as_socket();
        if (socket == nullptr) return -ENOTSOCK;
        std::shared_ptr<Rights> rights;
        if (socket->carries_rights()) {
          const int code = read_rights(message, table_, signals_.process_id(), rights);
          if (code != 0) return code;
          if (rights != nullptr) share_->rights.add(rights);
        }
        const Way way{"send", descriptor, EPOLLOUT, blocks(*found, flags),
                      !socket->keeps_boundaries()};
        const std::span<const iovec> source(message.msg_iov, message.msg_iovlen);
        const ssize_t result =
            transfer(way, found, found->write_limit(), source, [&](std::span<const iovec> left) {
              msghdr part = message;
              part.msg_iov = const_cast<iovec*>(left.data());
              part.msg_iovlen = left.size();
              look_for_names();
              return socket->send(part, flags & ~MSG_DONTWAIT, rights);
            });
        const bool tells = !socket->keeps_boundaries() && (flags & MSG_NOSIGNAL) == 0;
        if (result == -EPIPE && tells) signals_.break_pipe("send");
        return result;
      });
}

}  // namespace fermata::sim::detail
