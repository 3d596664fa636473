// SPDX-License-Identifier: Apache-2.0

// Descriptors, and how calls wait.

#include "fermata/posix/suspending/system_kernel.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <climits>
#include <cstdlib>

#include "fermata/base/assert.hpp"
#include "fermata/posix/suspending/disguise_table.hpp"
#include "fermata/posix/suspending/system_transfer.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::posix {

namespace {

constexpr unsigned kBusy = 16;

DisguiseTable& table() noexcept { return DisguiseTable::instance(); }

}  // namespace

// --- waiting ---

SystemKernel::Manner SystemKernel::manner_of(int descriptor) const noexcept {
  const int flags = os::kernel.fcntl(descriptor, F_GETFL);
  if (flags < 0) return Manner::NonBlocking;  // The call itself says why.
  if ((flags & O_NONBLOCK) == 0) return Manner::Blocking;
  const bool disguised = table().has(descriptor) && table().looks_blocking(descriptor);
  return disguised ? Manner::Disguised : Manner::NonBlocking;
}

SystemKernel::Way SystemKernel::way_of(int descriptor, Manner manner, short events) noexcept {
  return {.descriptor = descriptor,
          .events = events,
          .polls_first = manner == Manner::Blocking,
          .waits = manner == Manner::NonBlocking ? Waits::Never : Waits::Always,
          .whole = false};
}

bool SystemKernel::is_ready(const Way& way) const noexcept {
  pollfd asked = {way.descriptor, way.events, 0};
  return os::kernel.poll(&asked, 1, 0) != 0;
}

int SystemKernel::wait(const Way& way, Limit limit) {
  idle_calls_ = 0;
  const pollfd asked = {way.descriptor, way.events, 0};
  return waiter_.wait({&asked, 1}, limit);
}

// Who polls again and again waits for others, which may run on this thread.
int SystemKernel::idle() {
  if (++idle_calls_ < kBusy) return 0;
  idle_calls_ = 0;
  waiter_.yield();
  return waiter_.refusal();
}

// --- transfers ---

ssize_t SystemKernel::read(int descriptor, std::span<const iovec> target) {
  const auto read = [&](std::span<const iovec> pieces) {
    return told(os::kernel.readv(descriptor, pieces.data(), static_cast<int>(pieces.size())));
  };
  if (size_of(target) == 0) return read(target);
  msghdr message = {};
  message.msg_iov = const_cast<iovec*>(target.data());
  message.msg_iovlen = target.size();
  const ssize_t received = receive(descriptor, message, 0);
  if (received != -ENOTSOCK) return received;
  return transfer(way_of(descriptor, manner_of(descriptor), POLLIN), target, read);
}

// A pipe that blocks takes PIPE_BUF bytes without waiting when it can be written.
ssize_t SystemKernel::write(int descriptor, std::span<const iovec> source) {
  msghdr message = {};
  message.msg_iov = const_cast<iovec*>(source.data());
  message.msg_iovlen = source.size();
  const ssize_t sent = send(descriptor, message, 0);
  if (sent != -ENOTSOCK) return sent;
  const Manner manner = manner_of(descriptor);
  struct stat status = {};
  const bool in_parts = manner == Manner::Blocking && os::kernel.fstat(descriptor, &status) == 0 &&
                        S_ISFIFO(status.st_mode) && size_of(source) > PIPE_BUF;
  const auto write = [&](std::span<const iovec> pieces) {
    if (!in_parts) {
      return told(os::kernel.writev(descriptor, pieces.data(), static_cast<int>(pieces.size())));
    }
    const auto first = std::find_if(pieces.begin(), pieces.end(),
                                    [](const iovec& each) { return each.iov_len > 0; });
    FERMATA_ASSERT(first != pieces.end());
    const std::size_t part = std::min<std::size_t>(first->iov_len, PIPE_BUF);
    return told(os::kernel.write(descriptor, first->iov_base, part));
  };
  Way way = way_of(descriptor, manner, POLLOUT);
  way.whole = true;
  return transfer(way, source, write);
}

// --- descriptors ---

int SystemKernel::close(int descriptor) {
  table().remove(descriptor);
  return told(os::kernel.close(descriptor));
}

int SystemKernel::fcntl(int descriptor, int command, std::intptr_t argument) {
  const bool is_disguised = table().has(descriptor);
  if (command == F_SETFL && is_disguised) {
    const int code = told(os::kernel.fcntl(descriptor, command, argument | O_NONBLOCK));
    if (code == 0) table().set_look(descriptor, (argument & O_NONBLOCK) == 0);
    return code;
  }
  const int result = told(os::kernel.fcntl(descriptor, command, argument));
  if (result < 0) return result;
  if (command == F_GETFL && is_disguised) {
    return table().looks_blocking(descriptor) ? result & ~O_NONBLOCK : result;
  }
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) table().share(descriptor, result);
  return result;
}

int SystemKernel::duplicate_to(int descriptor, int target, int flags) {
  const int result = told(os::kernel.dup3(descriptor, target, flags));
  if (result >= 0) table().share(descriptor, target);
  return result;
}

int SystemKernel::ioctl(int descriptor, unsigned long request, void* argument) {
  if (request == FIONBIO && argument != nullptr && table().has(descriptor)) {
    table().set_look(descriptor, *static_cast<const int*>(argument) == 0);
    return 0;
  }
  return told(os::kernel.ioctl(descriptor, request, argument));
}

int SystemKernel::disguised(int descriptor, bool looks_blocking) {
  if (descriptor < 0 || table().add(descriptor, looks_blocking) || !looks_blocking) {
    return descriptor;
  }
  const int flags = os::kernel.fcntl(descriptor, F_GETFL);
  os::kernel.fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK);
  return descriptor;
}

int SystemKernel::pipe(std::array<int, 2>& ends, int flags) {
  const int code = told(os::kernel.pipe2(ends.data(), flags | O_NONBLOCK));
  if (code != 0) return code;
  for (int& each : ends) each = disguised(each, (flags & O_NONBLOCK) == 0);
  return 0;
}

}  // namespace fermata::posix
