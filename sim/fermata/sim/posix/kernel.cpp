// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/kernel.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/posix/datagram_socket.hpp"
#include "fermata/sim/posix/kernel_calls.hpp"
#include "fermata/sim/posix/kernel_files.hpp"
#include "fermata/sim/posix/open_file.hpp"
#include "fermata/sim/posix/pipe_end.hpp"
#include "fermata/sim/posix/socket_address.hpp"
#include "fermata/sim/posix/stream_socket.hpp"
#include "fermata/sim/posix/unix_socket.hpp"

namespace fermata::sim::detail {

namespace {

constexpr int kTypeFlags = SOCK_NONBLOCK | SOCK_CLOEXEC;
/// What F_SETFL changes of what the world models; the rest is accepted, and kept.
constexpr int kChangeable = O_APPEND | O_ASYNC | O_DIRECT | O_NOATIME | O_NONBLOCK;

/// Why there is no such socket, a negative errno, or 0. What the system has and the world does not,
/// such as raw sockets, is refused as what a system without it refuses.
int refuse_socket(int domain, int type, int protocol) noexcept {
  const int kind = type & ~kTypeFlags;
  if (kind < 0 || kind > SOCK_PACKET) return -EINVAL;
  if (domain != AF_INET && domain != AF_INET6 && domain != AF_UNIX) return -EAFNOSUPPORT;
  const bool is_unix = domain == AF_UNIX;
  if (is_unix && protocol != 0 && protocol != PF_UNIX) return -EPROTONOSUPPORT;
  if (is_unix && (kind == SOCK_STREAM || kind == SOCK_DGRAM)) return 0;
  const bool is_raw = kind == SOCK_RAW;
  if (is_raw || (is_unix && kind == SOCK_SEQPACKET)) return -EPROTONOSUPPORT;
  if (is_unix || (kind != SOCK_STREAM && kind != SOCK_DGRAM)) return -ESOCKTNOSUPPORT;
  const int usual = kind == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP;
  return protocol == 0 || protocol == usual ? 0 : -EPROTONOSUPPORT;
}

}  // namespace

SimKernel::SimKernel(Machine& machine, Network& network, Disk& disk, DescriptorTable& table,
                     const SimKernel* first)
    : machine_(machine),
      network_(network),
      table_(table),
      files_(std::make_unique<SimKernelFiles>(*this, machine, disk)),
      share_(first != nullptr ? first->share_
                              : std::make_shared<MachineShare>(machine, network, disk)),
      index_(first != nullptr ? ++share_->processes : 0),
      signals_(*this, machine),
      threads_(*this, machine) {
  table_.limit_by(state_.limits[RLIMIT_NOFILE].rlim_cur);
}

// Sockets that are still open know the names that they are bound to, which go now.
SimKernel::~SimKernel() {
  std::vector<std::string> leaks;
  table_.end_run(leaks);
  FERMATA_ASSERT(index_ > 0 || share_->unix_datagrams.empty());
}

void SimKernel::serve() {
  if (std::exchange(serves_, true)) return;
  if (index_ == 0) network_.set_local_names(machine_, &share_->unix_names);
}

// A kernel that has not served since its last beginning is still as new.
void SimKernel::begin_life() {
  if (!std::exchange(serves_, false)) return;
  if (std::exchange(knows_places_, false)) known_places_.fill({});  // Their code may be unloaded.
  idle_calls_ = 0;
  calls_after_end_ = 0;
  calls_in_vain_ = 0;
  random_words_ = 0;
  if (index_ == 0) share_->processes = 0;
  random_is_seeded_ = false;
  signals_.begin_life();
  threads_.begin_life();
  files_->begin_life();
  environment_.clear();
  state_ = {};
  image_.forget();
  heap_.clear();
}

void SimKernel::end_life() {
  if (!serves_) return;
  if (index_ == 0) network_.set_local_names(machine_, nullptr);
  signals_.main_ends();
  files_->end_life();
}

void SimKernel::thread_made(CoroutineBase& coroutine) {
  if (switched_ != nullptr) coroutine.add_switch_handler(switched_);
}

posix::Files* SimKernel::files() noexcept { return files_.get(); }

// --- descriptors ---

ssize_t SimKernel::read(int descriptor, std::span<const iovec> target) {
  return with_waiting("read", descriptor, [&](const std::shared_ptr<Description>& found) {
    return read_from(found, descriptor, target);
  });
}

ssize_t SimKernel::read_from(const std::shared_ptr<Description>& found, int descriptor,
                             std::span<const iovec> target) {
  if (OpenFile* const file = found->as_file()) return files_->read(*file, target);
  const Way way{"read", descriptor, EPOLLIN | EPOLLRDHUP, blocks(*found), false};
  return transfer(way, found, found->read_limit(), target,
                  [&](std::span<const iovec> left) { return found->read(left); });
}

ssize_t SimKernel::write(int descriptor, std::span<const iovec> source) {
  return with_waiting("write", descriptor, [&](const std::shared_ptr<Description>& found) {
    return write_to(found, descriptor, source);
  });
}

ssize_t SimKernel::write_to(const std::shared_ptr<Description>& found, int descriptor,
                            std::span<const iovec> source) {
  if (OpenFile* const file = found->as_file()) return files_->write(*file, source);
  const Way way{"write", descriptor, EPOLLOUT, blocks(*found), true};
  bool is_broken = false;
  const ssize_t result =
      transfer(way, found, found->write_limit(), source, [&](std::span<const iovec> left) {
        const ssize_t part = found->write(left);
        is_broken = part == -EPIPE;
        return part;
      });
  // Of a pipe that has taken a part it is told as well.
  const Socket* const socket = found->as_socket();
  const bool tells = socket == nullptr || (result < 0 && !socket->keeps_boundaries());
  if (is_broken && tells) signals_.break_pipe("write");
  return result;
}

int SimKernel::fstat(int descriptor, struct stat& status) {
  return with("fstat", descriptor, [&](const std::shared_ptr<Description>& found) {
    return files_->status(*found, status);
  });
}

int SimKernel::close(int descriptor) {
  if (const int code = enter("close")) return code;
  forget_locks(descriptor);
  return -table_.close(descriptor);
}

// Those of the process on a file go with any descriptor of it.
void SimKernel::forget_locks(int descriptor) {
  Description* const closed = table_.find(descriptor);
  const OpenFile* const file = closed == nullptr ? nullptr : closed->as_file();
  if (file != nullptr) files_->closing(*file);
}

int SimKernel::fcntl(int descriptor, int command, std::intptr_t argument) {
  return with("fcntl", descriptor, [&](const std::shared_ptr<Description>& found) -> int {
    DescriptorTable::Entry& entry = table_.entry(descriptor);
    switch (command) {
      case F_DUPFD:
      case F_DUPFD_CLOEXEC: {
        if (argument < 0 || argument >= static_cast<std::intptr_t>(table_.limit())) {
          return -EINVAL;
        }
        if (table_.is_full("duplicate")) return -EMFILE;
        return table_.open({.description = found, .close_on_exec = command == F_DUPFD_CLOEXEC},
                           static_cast<int>(argument));
      }
      case F_GETFD:
        return entry.close_on_exec ? FD_CLOEXEC : 0;
      case F_SETFD:
        entry.close_on_exec = (argument & FD_CLOEXEC) != 0;
        return 0;
      case F_GETFL:
        return found->status;
      case F_SETFL:
        if ((found->status & O_PATH) != 0) return -EBADF;
        found->status = (found->status & ~kChangeable) | (static_cast<int>(argument) & kChangeable);
        return 0;
      case F_GETLK:
      case F_SETLK:
      case F_SETLKW:
      case F_OFD_GETLK:
      case F_OFD_SETLK:
      case F_OFD_SETLKW: {
        OpenFile* const file = found->as_file();
        auto* const asked = reinterpret_cast<struct flock*>(argument);
        if (asked == nullptr) return -EFAULT;
        return file == nullptr ? -EINVAL : files_->control_lock(*file, command, *asked);
      }
      default:
        return -EINVAL;
    }
  });
}

int SimKernel::duplicate_to(int descriptor, int target, int flags) {
  if (const int code = enter("dup2")) return code;
  if (const int code = refuse_flags(flags, O_CLOEXEC)) return code;
  if (table_.find(descriptor) != nullptr) forget_locks(target);
  return with("dup2", descriptor, [&](const std::shared_ptr<Description>& found) -> int {
    const int code =
        table_.open_as(target, {.description = found, .close_on_exec = (flags & O_CLOEXEC) != 0});
    return code == 0 ? target : -code;
  });
}

int SimKernel::ioctl(int descriptor, unsigned long request, void* argument) {
  return with("ioctl", descriptor, [&](const std::shared_ptr<Description>& found) -> int {
    switch (request) {
      case FIONBIO:
        found->status &= ~O_NONBLOCK;
        if (*static_cast<const int*>(argument) != 0) found->status |= O_NONBLOCK;
        return 0;
      case FIOCLEX:
      case FIONCLEX:
        table_.entry(descriptor).close_on_exec = request == FIOCLEX;
        return 0;
      case FIONREAD: {
        const int bytes = found->readable_bytes();
        if (bytes < 0) return bytes;
        *static_cast<int*>(argument) = bytes;
        return 0;
      }
      default:
        return -ENOTTY;
    }
  });
}

int SimKernel::pipe(std::array<int, 2>& ends, int flags) {
  if (const int code = enter("pipe")) return code;
  if (const int code = refuse_flags(flags, O_CLOEXEC | O_NONBLOCK | O_DIRECT)) return code;
  if (table_.is_full("pipe")) return -EMFILE;
  const std::uint64_t first = table_.next_serial();
  const auto pair = PipeEnd::make_pair(machine_, network_, {first, table_.next_serial()});
  return open_both(pair[0], pair[1], flags, ends);
}

int SimKernel::refuse_flags(int flags, int known) const {
  return (flags & ~known) != 0 ? -EINVAL : 0;
}

int SimKernel::open(std::shared_ptr<Description> description, int flags) {
  if ((flags & SOCK_NONBLOCK) != 0) description->status |= O_NONBLOCK;
  return table_.open(
      {.description = std::move(description), .close_on_exec = (flags & SOCK_CLOEXEC) != 0});
}

int SimKernel::open_both(std::shared_ptr<Description> first, std::shared_ptr<Description> second,
                         int flags, std::array<int, 2>& ends) {
  ends[0] = open(std::move(first), flags);
  if (ends[0] < 0) return ends[0];
  ends[1] = open(std::move(second), flags);
  if (ends[1] >= 0) return 0;
  table_.close(ends[0]);
  return ends[1];
}

// --- sockets ---

int SimKernel::socket(int domain, int type, int protocol) {
  if (const int code = enter("socket")) return code;
  if (const int code = refuse_socket(domain, type, protocol)) return code;
  if (table_.is_full("socket")) return -EMFILE;
  const std::uint64_t serial = table_.next_serial();
  const bool is_stream = (type & ~kTypeFlags) == SOCK_STREAM;
  if (domain == AF_UNIX && is_stream) {
    return open(std::make_shared<UnixSocket>(machine_, network_, share_->unix_names, serial), type);
  }
  if (domain == AF_UNIX) return open(make_unix_datagram_socket(serial), type);
  if (is_stream) {
    return open(std::make_shared<StreamSocket>(machine_, network_, serial, domain), type);
  }
  return open(std::make_shared<DatagramSocket>(machine_, network_, serial, domain), type);
}

int SimKernel::socketpair(int domain, int type, int protocol, std::array<int, 2>& ends) {
  if (const int code = enter("socketpair")) return code;
  if (const int code = refuse_socket(domain, type, protocol)) return code;
  if (domain != AF_UNIX) return -EOPNOTSUPP;
  if (table_.is_full("socket pair")) return -EMFILE;
  const std::uint64_t first = table_.next_serial();
  const std::uint64_t second = table_.next_serial();
  if ((type & ~kTypeFlags) == SOCK_STREAM) {
    const auto pair =
        UnixSocket::make_pair(machine_, network_, share_->unix_names, {first, second});
    return open_both(pair[0], pair[1], type, ends);
  }
  const auto one = make_unix_datagram_socket(first);
  const auto other = make_unix_datagram_socket(second);
  UnixDatagramSocket::join(*one, *other);
  return open_both(one, other, type, ends);
}

std::shared_ptr<UnixDatagramSocket> SimKernel::make_unix_datagram_socket(std::uint64_t serial) {
  return std::make_shared<UnixDatagramSocket>(machine_, network_, share_->unix_names,
                                              share_->unix_datagrams, serial);
}

void SimKernel::look_for_names() noexcept {
  files_->show_all();
  share_->unix_names.look_from(files_->working_directory(), files_->mask());
}

int SimKernel::bind(int descriptor, const sockaddr* address, socklen_t size) {
  return with_socket("bind", descriptor, [&](Socket& socket) {
    look_for_names();
    return socket.bind(address, size);
  });
}

int SimKernel::listen(int descriptor, int backlog) {
  return with_socket("listen", descriptor, [&](Socket& socket) { return socket.listen(backlog); });
}

int SimKernel::getsockname(int descriptor, sockaddr* address, socklen_t* size) {
  return with_socket("getsockname", descriptor,
                     [&](Socket& socket) { return socket.name(true, address, size); });
}

int SimKernel::getpeername(int descriptor, sockaddr* address, socklen_t* size) {
  return with_socket("getpeername", descriptor,
                     [&](Socket& socket) { return socket.name(false, address, size); });
}

int SimKernel::getsockopt(int descriptor, int level, int name, void* value, socklen_t* size) {
  return with_socket("getsockopt", descriptor,
                     [&](Socket& socket) { return socket.option(level, name, value, size); });
}

int SimKernel::setsockopt(int descriptor, int level, int name, const void* value, socklen_t size) {
  return with_socket("setsockopt", descriptor,
                     [&](Socket& socket) { return socket.set_option(level, name, value, size); });
}

int SimKernel::shutdown(int descriptor, int how) {
  return with_socket("shutdown", descriptor, [&](Socket& socket) { return socket.shut_down(how); });
}

// A wait that is interrupted, or too long, leaves the connection to be established.
int SimKernel::connect(int descriptor, const sockaddr* address, socklen_t size) {
  return with_waiting("connect", descriptor, [&](const std::shared_ptr<Description>& found) -> int {
    Socket* const socket = found->as_socket();
    if (socket == nullptr) return -ENOTSOCK;
    look_for_names();
    const int result = socket->connect(address, size);
    if (result != -EINPROGRESS || !blocks(*found)) return result;
    const int waited = wait("connect", {{found, EPOLLOUT, descriptor}}, found->write_limit(), true);
    if (waited != 0) return waited == -ETIMEDOUT ? -EINPROGRESS : waited;
    return socket->connect(address, size);
  });
}

int SimKernel::accept(int descriptor, sockaddr* address, socklen_t* size, int flags) {
  return with_waiting("accept", descriptor, [&](const std::shared_ptr<Description>& found) -> int {
    Socket* const listener = found->as_socket();
    if (listener == nullptr) return -ENOTSOCK;
    if (const int code = refuse_flags(flags, kTypeFlags)) return code;
    std::shared_ptr<Socket> accepted;
    const Way way{"accept", descriptor, EPOLLIN, blocks(*found), false};
    const ssize_t result = transfer(way, found, found->read_limit(), {}, [&](auto) -> ssize_t {
      if ((listener->readiness() & EPOLLIN) != 0 && table_.is_full("accepted connection")) {
        return -EMFILE;
      }
      int code = 0;
      accepted = listener->accept(table_.next_serial(), code);
      return code;
    });
    if (result < 0) return static_cast<int>(result);
    static_cast<void>(accepted->name(false, address, size));
    return open(std::move(accepted), flags);
  });
}

}  // namespace fermata::sim::detail
