// SPDX-License-Identifier: Apache-2.0

// Sockets.

#include <fcntl.h>
#include <sys/socket.h>

#include <cstring>
#include <memory>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/posix/suspending/disguise_table.hpp"
#include "fermata/posix/suspending/system_kernel.hpp"
#include "fermata/posix/suspending/system_transfer.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::posix {

namespace {

constexpr std::chrono::milliseconds kRetry{1};

bool is_stream(int descriptor) noexcept {
  int type = 0;
  socklen_t size = sizeof type;
  return os::kernel.getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
         type == SOCK_STREAM;
}

/// Calls `function` with each descriptor that comes with `message`.
template <class Function>
void for_each_descriptor(const msghdr& message, const Function& function) {
  msghdr copy = message;  // The macros are not for what is constant.
  for (cmsghdr* each = CMSG_FIRSTHDR(&copy); each != nullptr; each = CMSG_NXTHDR(&copy, each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (each->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor = 0;
      std::memcpy(&descriptor, CMSG_DATA(each) + i * sizeof descriptor, sizeof descriptor);
      function(descriptor);
    }
  }
}

}  // namespace

int SystemKernel::socket(int domain, int type, int protocol) {
  const int made = told(os::kernel.socket(domain, type | SOCK_NONBLOCK, protocol));
  return disguised(made, (type & SOCK_NONBLOCK) == 0);
}

int SystemKernel::socketpair(int domain, int type, int protocol, std::array<int, 2>& ends) {
  const int code = told(os::kernel.socketpair(domain, type | SOCK_NONBLOCK, protocol, ends.data()));
  if (code != 0) return code;
  for (int& each : ends) each = disguised(each, (type & SOCK_NONBLOCK) == 0);
  return 0;
}

int SystemKernel::bind(int descriptor, const sockaddr* address, socklen_t size) {
  return told(os::kernel.bind(descriptor, address, size));
}

int SystemKernel::listen(int descriptor, int backlog) {
  return told(os::kernel.listen(descriptor, backlog));
}

int SystemKernel::getsockname(int descriptor, sockaddr* address, socklen_t* size) {
  return told(os::kernel.getsockname(descriptor, address, size));
}

int SystemKernel::getpeername(int descriptor, sockaddr* address, socklen_t* size) {
  return told(os::kernel.getpeername(descriptor, address, size));
}

int SystemKernel::getsockopt(int descriptor, int level, int name, void* value, socklen_t* size) {
  return told(os::kernel.getsockopt(descriptor, level, name, value, size));
}

int SystemKernel::setsockopt(int descriptor, int level, int name, const void* value,
                             socklen_t size) {
  return told(os::kernel.setsockopt(descriptor, level, name, value, size));
}

int SystemKernel::shutdown(int descriptor, int how) {
  return told(os::kernel.shutdown(descriptor, how));
}

// --- connections ---

int SystemKernel::accept(int descriptor, sockaddr* address, socklen_t* size, int flags) {
  const bool disguising = waiter_.disguises_descriptors();
  Way way = way_of(descriptor, manner_of(descriptor), POLLIN);
  way.patience = SO_RCVTIMEO;
  Patience patience;
  const int accepted = repeat(way, patience, [&] {
    const int underneath = disguising ? flags | SOCK_NONBLOCK : flags;
    return told(os::kernel.accept4(descriptor, address, size, underneath));
  });
  return disguising ? disguised(accepted, (flags & SOCK_NONBLOCK) == 0) : accepted;
}

int SystemKernel::connect(int descriptor, const sockaddr* address, socklen_t size) {
  const Manner manner = manner_of(descriptor);
  if (manner == Manner::Blocking) return connect_elsewhere(descriptor, address, size);
  for (;;) {
    const int code = told(os::kernel.connect(descriptor, address, size));
    if (manner == Manner::NonBlocking) return code;
    if (code == -EINPROGRESS || code == -EALREADY) {
      return finish_connecting(descriptor, address, size);
    }
    if (code != -EAGAIN) return code;
    // A Unix socket whose listener has no room, which no poll tells of.
    if (const int slept = waiter_.sleep(kRetry)) return slept;
  }
}

// A call after the one that has begun it tells how it ended, and ends it for the system, too.
int SystemKernel::finish_connecting(int descriptor, const sockaddr* address, socklen_t size) {
  const Way way = {.descriptor = descriptor,
                   .events = POLLOUT,
                   .polls_first = true,
                   .waits = Waits::Always,
                   .whole = false,
                   .patience = SO_SNDTIMEO};
  Patience patience;
  const int code = repeat(way, patience, [&] {
    const int ended = told(os::kernel.connect(descriptor, address, size));
    return ended == -EALREADY ? -EAGAIN : ended;
  });
  return code == -EAGAIN ? -EINPROGRESS : code;
}

// A socket that blocks, and must not be changed.
int SystemKernel::connect_elsewhere(int descriptor, const sockaddr* address, socklen_t size) {
  FERMATA_ASSERT(descriptor >= 0);
  sockaddr_storage copy = {};
  if (size > sizeof copy) return -EINVAL;
  if (address == nullptr) return -EFAULT;
  std::memcpy(&copy, address, size);
  const auto code = std::make_shared<int>(0);
  const int waited = waiter_.run_blocking([descriptor, copy, size, code] {
    const auto* const any = reinterpret_cast<const sockaddr*>(&copy);
    *code = told(os::kernel.connect(descriptor, any, size));
  });
  return waited != 0 ? waited : *code;
}

// --- transfers: no attempt blocks, whatever the manner ---

ssize_t SystemKernel::receive(int descriptor, msghdr& message, int flags) {
  const std::span<const iovec> all(message.msg_iov, message.msg_iovlen);
  bool first = true;
  const auto attempt = [&](std::span<const iovec> pieces) {
    msghdr target = first ? message : msghdr{};
    target.msg_iov = const_cast<iovec*>(pieces.data());
    target.msg_iovlen = pieces.size();
    const ssize_t size = told(os::kernel.recvmsg(descriptor, &target, flags | MSG_DONTWAIT));
    if (size < 0 || !std::exchange(first, false)) return size;
    target.msg_iov = message.msg_iov;
    target.msg_iovlen = message.msg_iovlen;
    message = target;
    for_each_descriptor(message, [](int each) { DisguiseTable::instance().adopt(each); });
    return size;
  };
  const bool never_waits = (flags & (MSG_DONTWAIT | MSG_ERRQUEUE)) != 0;
  const bool whole = (flags & (MSG_WAITALL | MSG_PEEK)) == MSG_WAITALL && !never_waits;
  return transfer({.descriptor = descriptor,
                   .events = static_cast<short>((flags & MSG_OOB) != 0 ? POLLPRI : POLLIN),
                   .polls_first = false,
                   .waits = never_waits ? Waits::Never : Waits::AsItLooks,
                   .whole = whole && is_stream(descriptor),
                   .patience = SO_RCVTIMEO},
                  all, attempt);
}

ssize_t SystemKernel::send(int descriptor, const msghdr& message, int flags) {
  // Before they are sent: who receives them may be quicker than this.
  for_each_descriptor(message, [](int each) { DisguiseTable::instance().send(each); });
  bool first = true;
  const auto attempt = [&](std::span<const iovec> pieces) {
    msghdr source = message;
    if (!first) source.msg_controllen = 0;
    source.msg_iov = const_cast<iovec*>(pieces.data());
    source.msg_iovlen = pieces.size();
    const ssize_t size = told(os::kernel.sendmsg(descriptor, &source, flags | MSG_DONTWAIT));
    if (size >= 0) first = false;
    return size;
  };
  const bool never_waits = (flags & MSG_DONTWAIT) != 0;
  return transfer({.descriptor = descriptor,
                   .events = POLLOUT,
                   .polls_first = false,
                   .waits = never_waits ? Waits::Never : Waits::AsItLooks,
                   .whole = !never_waits,
                   .patience = SO_SNDTIMEO},
                  {message.msg_iov, message.msg_iovlen}, attempt);
}

}  // namespace fermata::posix
