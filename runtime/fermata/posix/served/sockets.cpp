// SPDX-License-Identifier: Apache-2.0

// Sockets.

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "fermata/base/assert.hpp"
#include "fermata/posix/kernel.hpp"
#include "fermata/posix/served/real.hpp"

using fermata::posix::answer;
using fermata::posix::Kernel;
using fermata::posix::serving;
using fermata::posix::serving_for;

namespace {

// What the system takes at the most in one call of recvmmsg() and sendmmsg().
constexpr unsigned kMostMessages = 1024;

ssize_t receive(Kernel& kernel, int descriptor, void* buffer, size_t size, int flags,
                sockaddr* address, socklen_t* address_size) {
  iovec target = {buffer, size};
  msghdr message = {};
  message.msg_iov = &target;
  message.msg_iovlen = 1;
  message.msg_name = address;
  message.msg_namelen = address != nullptr && address_size != nullptr ? *address_size : 0;
  const ssize_t result = kernel.receive(descriptor, message, flags);
  if (result >= 0 && address != nullptr && address_size != nullptr) {
    *address_size = message.msg_namelen;
  }
  return answer(result);
}

ssize_t send(Kernel& kernel, int descriptor, const void* data, size_t size, int flags,
             const sockaddr* address, socklen_t address_size) {
  iovec source = {const_cast<void*>(data), size};
  msghdr message = {};
  message.msg_iov = &source;
  message.msg_iovlen = 1;
  message.msg_name = const_cast<sockaddr*>(address);
  message.msg_namelen = address != nullptr ? address_size : 0;
  return answer(kernel.send(descriptor, message, flags));
}

// --- calls that are made often, when they may be served ---

[[gnu::noinline]] ssize_t serve_recvmsg(const void* from, int descriptor, msghdr* message,
                                        int flags) {
  FERMATA_ASSERT(from != nullptr);
  Kernel* const kernel = serving_for(from, descriptor);
  if (kernel == nullptr) return FERMATA_REAL(recvmsg)(descriptor, message, flags);
  return answer(kernel->receive(descriptor, *message, flags));
}

[[gnu::noinline]] ssize_t serve_recvfrom(const void* from, int descriptor, void* buffer,
                                         size_t size, int flags, sockaddr* address,
                                         socklen_t* address_size) {
  FERMATA_ASSERT(from != nullptr);
  Kernel* const kernel = serving_for(from, descriptor);
  if (kernel == nullptr) {
    return FERMATA_REAL(recvfrom)(descriptor, buffer, size, flags, address, address_size);
  }
  return receive(*kernel, descriptor, buffer, size, flags, address, address_size);
}

[[gnu::noinline]] ssize_t serve_recv(const void* from, int descriptor, void* buffer, size_t size,
                                     int flags) {
  FERMATA_ASSERT(from != nullptr);
  Kernel* const kernel = serving_for(from, descriptor);
  if (kernel == nullptr) return FERMATA_REAL(recv)(descriptor, buffer, size, flags);
  return receive(*kernel, descriptor, buffer, size, flags, nullptr, nullptr);
}

[[gnu::noinline]] ssize_t serve_sendmsg(const void* from, int descriptor, const msghdr* message,
                                        int flags) {
  FERMATA_ASSERT(from != nullptr);
  Kernel* const kernel = serving_for(from, descriptor);
  if (kernel == nullptr) return FERMATA_REAL(sendmsg)(descriptor, message, flags);
  return answer(kernel->send(descriptor, *message, flags));
}

[[gnu::noinline]] ssize_t serve_sendto(const void* from, int descriptor, const void* data,
                                       size_t size, int flags, const sockaddr* address,
                                       socklen_t address_size) {
  FERMATA_ASSERT(from != nullptr);
  Kernel* const kernel = serving_for(from, descriptor);
  if (kernel == nullptr) {
    return FERMATA_REAL(sendto)(descriptor, data, size, flags, address, address_size);
  }
  return send(*kernel, descriptor, data, size, flags, address, address_size);
}

[[gnu::noinline]] ssize_t serve_send(const void* from, int descriptor, const void* data,
                                     size_t size, int flags) {
  FERMATA_ASSERT(from != nullptr);
  Kernel* const kernel = serving_for(from, descriptor);
  if (kernel == nullptr) return FERMATA_REAL(send)(descriptor, data, size, flags);
  return send(*kernel, descriptor, data, size, flags, nullptr, 0);
}

}  // namespace

extern "C" {

// Spellings that headers do not declare.
ssize_t __recv_chk(int descriptor, void* buffer, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int descriptor, void* buffer, size_t size, size_t room, int flags,
                       sockaddr* address, socklen_t* address_size);

int socket(int domain, int type, int protocol) noexcept {
  Kernel* const kernel = serving;
  if (kernel == nullptr) return FERMATA_REAL(socket)(domain, type, protocol);
  return answer(kernel->socket(domain, type, protocol));
}

int socketpair(int domain, int type, int protocol, int* ends) noexcept {
  Kernel* const kernel = serving;
  if (kernel == nullptr) return FERMATA_REAL(socketpair)(domain, type, protocol, ends);
  std::array<int, 2> opened{};
  const int result = kernel->socketpair(domain, type, protocol, opened);
  if (result == 0) std::copy(opened.begin(), opened.end(), ends);
  return answer(result);
}

int bind(int descriptor, const sockaddr* address, socklen_t size) noexcept {
  Kernel* const kernel = serving;
  if (kernel == nullptr) return FERMATA_REAL(bind)(descriptor, address, size);
  return answer(kernel->bind(descriptor, address, size));
}

int listen(int descriptor, int backlog) noexcept {
  Kernel* const kernel = serving;
  if (kernel == nullptr) return FERMATA_REAL(listen)(descriptor, backlog);
  return answer(kernel->listen(descriptor, backlog));
}

int accept4(int descriptor, sockaddr* address, socklen_t* size, int flags) {
  Kernel* const kernel = serving_for(__builtin_return_address(0), descriptor);
  if (kernel == nullptr) return FERMATA_REAL(accept4)(descriptor, address, size, flags);
  return answer(kernel->accept(descriptor, address, size, flags));
}

int accept(int descriptor, sockaddr* address, socklen_t* size) {
  Kernel* const kernel = serving_for(__builtin_return_address(0), descriptor);
  if (kernel == nullptr) return FERMATA_REAL(accept)(descriptor, address, size);
  return answer(kernel->accept(descriptor, address, size, 0));
}

int connect(int descriptor, const sockaddr* address, socklen_t size) {
  Kernel* const kernel = serving_for(__builtin_return_address(0), descriptor);
  if (kernel == nullptr) return FERMATA_REAL(connect)(descriptor, address, size);
  return answer(kernel->connect(descriptor, address, size));
}

int getsockname(int descriptor, sockaddr* address, socklen_t* size) noexcept {
  Kernel* const kernel = serving;
  if (kernel == nullptr) return FERMATA_REAL(getsockname)(descriptor, address, size);
  return answer(kernel->getsockname(descriptor, address, size));
}

int getpeername(int descriptor, sockaddr* address, socklen_t* size) noexcept {
  Kernel* const kernel = serving;
  if (kernel == nullptr) return FERMATA_REAL(getpeername)(descriptor, address, size);
  return answer(kernel->getpeername(descriptor, address, size));
}

int getsockopt(int descriptor, int level, int name, void* value, socklen_t* size) noexcept {
  Kernel* const kernel = serving;
  if (kernel == nullptr) return FERMATA_REAL(getsockopt)(descriptor, level, name, value, size);
  return answer(kernel->getsockopt(descriptor, level, name, value, size));
}

int setsockopt(int descriptor, int level, int name, const void* value, socklen_t size) noexcept {
  Kernel* const kernel = serving;
  if (kernel == nullptr) return FERMATA_REAL(setsockopt)(descriptor, level, name, value, size);
  return answer(kernel->setsockopt(descriptor, level, name, value, size));
}

int shutdown(int descriptor, int how) noexcept {
  Kernel* const kernel = serving;
  if (kernel == nullptr) return FERMATA_REAL(shutdown)(descriptor, how);
  return answer(kernel->shutdown(descriptor, how));
}

// --- receiving ---

ssize_t recvmsg(int descriptor, msghdr* message, int flags) {
  FERMATA_PASS_ON(recvmsg, descriptor, message, flags)
  return serve_recvmsg(__builtin_return_address(0), descriptor, message, flags);
}

ssize_t recvfrom(int descriptor, void* buffer, size_t size, int flags, sockaddr* address,
                 socklen_t* address_size) {
  FERMATA_PASS_ON(recvfrom, descriptor, buffer, size, flags, address, address_size)
  return serve_recvfrom(__builtin_return_address(0), descriptor, buffer, size, flags, address,
                        address_size);
}

ssize_t recv(int descriptor, void* buffer, size_t size, int flags) {
  FERMATA_PASS_ON(recv, descriptor, buffer, size, flags)
  return serve_recv(__builtin_return_address(0), descriptor, buffer, size, flags);
}

// What is too large for its buffer ends the program, in the real one.

ssize_t __recv_chk(int descriptor, void* buffer, size_t size, size_t room, int flags) {
  if (serving_for(__builtin_return_address(0), descriptor) == nullptr || size > room) {
    return FERMATA_REAL(__recv_chk)(descriptor, buffer, size, room, flags);
  }
  return recv(descriptor, buffer, size, flags);
}

ssize_t __recvfrom_chk(int descriptor, void* buffer, size_t size, size_t room, int flags,
                       sockaddr* address, socklen_t* address_size) {
  if (serving_for(__builtin_return_address(0), descriptor) == nullptr || size > room) {
    return FERMATA_REAL(__recvfrom_chk)(descriptor, buffer, size, room, flags, address,
                                        address_size);
  }
  return recvfrom(descriptor, buffer, size, flags, address, address_size);
}

// An error behind the first message is lost here, where the system tells it in the next call.
int recvmmsg(int descriptor, mmsghdr* messages, unsigned count, int flags, timespec* limit) {
  Kernel* const kernel = serving_for(__builtin_return_address(0), descriptor);
  if (kernel == nullptr) return FERMATA_REAL(recvmmsg)(descriptor, messages, count, flags, limit);
  if (limit != nullptr) return answer(-ENOSYS);
  count = std::min(count, kMostMessages);
  for (unsigned i = 0; i < count; ++i) {
    const bool waits = i == 0 || (flags & MSG_WAITFORONE) == 0;
    const int how = (flags & ~MSG_WAITFORONE) | (waits ? 0 : MSG_DONTWAIT);
    const ssize_t size = kernel->receive(descriptor, messages[i].msg_hdr, how);
    if (size < 0) return i > 0 ? static_cast<int>(i) : answer(static_cast<int>(size));
    messages[i].msg_len = static_cast<unsigned>(size);
  }
  return static_cast<int>(count);
}

// --- sending ---

ssize_t sendmsg(int descriptor, const msghdr* message, int flags) {
  FERMATA_PASS_ON(sendmsg, descriptor, message, flags)
  return serve_sendmsg(__builtin_return_address(0), descriptor, message, flags);
}

ssize_t sendto(int descriptor, const void* data, size_t size, int flags, const sockaddr* address,
               socklen_t address_size) {
  FERMATA_PASS_ON(sendto, descriptor, data, size, flags, address, address_size)
  return serve_sendto(__builtin_return_address(0), descriptor, data, size, flags, address,
                      address_size);
}

ssize_t send(int descriptor, const void* data, size_t size, int flags) {
  FERMATA_PASS_ON(send, descriptor, data, size, flags)
  return serve_send(__builtin_return_address(0), descriptor, data, size, flags);
}

int sendmmsg(int descriptor, mmsghdr* messages, unsigned count, int flags) {
  Kernel* const kernel = serving_for(__builtin_return_address(0), descriptor);
  if (kernel == nullptr) return FERMATA_REAL(sendmmsg)(descriptor, messages, count, flags);
  count = std::min(count, kMostMessages);
  for (unsigned i = 0; i < count; ++i) {
    const ssize_t size = kernel->send(descriptor, messages[i].msg_hdr, flags);
    if (size < 0) return i > 0 ? static_cast<int>(i) : answer(static_cast<int>(size));
    messages[i].msg_len = static_cast<unsigned>(size);
  }
  return static_cast<int>(count);
}

}  // extern "C"
