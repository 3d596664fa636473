// SPDX-License-Identifier: Apache-2.0

// Readiness: poll and its relatives, epoll, and the descriptors that count and that tell the time.
//
// Masks  Signals that a call lets through while it waits are not looked at: there are none yet.

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include "fermata/posix/kernel.hpp"
#include "fermata/posix/served/limit.hpp"
#include "fermata/posix/served/real.hpp"

using fermata::posix::answer;
using fermata::posix::is_valid;
using fermata::posix::Kernel;
using fermata::posix::Limit;
using fermata::posix::limit_of;
using fermata::posix::limit_of_milliseconds;
using fermata::posix::serving;
using fermata::posix::serving_for;

namespace {

constexpr short kReadable = POLLIN | POLLRDNORM | POLLHUP | POLLERR;
constexpr short kWritable = POLLOUT | POLLWRNORM | POLLERR;
constexpr short kExceptional = POLLPRI;

bool has(const fd_set* set, int descriptor) noexcept {
  return set != nullptr && FD_ISSET(descriptor, set);
}

/// Leaves in `set` those of which `asked` says something of `events`, and returns how many.
int keep(fd_set* set, const std::vector<pollfd>& asked, short events) noexcept {
  if (set == nullptr) return 0;
  int count = 0;
  for (const pollfd& each : asked) {
    if (!FD_ISSET(each.fd, set)) continue;
    if ((each.revents & events) != 0) {
      ++count;
    } else {
      FD_CLR(each.fd, set);
    }
  }
  return count;
}

int select_by_poll(Kernel& kernel, int end, fd_set* readable, fd_set* writable, fd_set* exceptional,
                   Limit limit) {
  if (end < 0 || end > FD_SETSIZE) return -EINVAL;
  std::vector<pollfd> asked;
  for (int descriptor = 0; descriptor < end; ++descriptor) {
    pollfd each = {descriptor, 0, 0};
    if (has(readable, descriptor)) each.events |= POLLIN;
    if (has(writable, descriptor)) each.events |= POLLOUT;
    if (has(exceptional, descriptor)) each.events |= POLLPRI;
    if (each.events != 0) asked.push_back(each);
  }
  const int result = kernel.poll(asked, limit);
  if (result < 0) return result;
  const bool closed = std::any_of(asked.begin(), asked.end(), [](const pollfd& each) {
    return (each.revents & POLLNVAL) != 0;
  });
  if (closed) return -EBADF;
  return keep(readable, asked, kReadable) + keep(writable, asked, kWritable) +
         keep(exceptional, asked, kExceptional);
}

int wait_for_epoll(Kernel& kernel, int epoll, epoll_event* events, int room, Limit limit) {
  if (room <= 0) return -EINVAL;
  return kernel.epoll_wait(epoll, {events, static_cast<std::size_t>(room)}, limit);
}

// --- calls that are made often, when they may be served ---

[[gnu::noinline]] int serve_poll(const void* from, pollfd* asked, nfds_t count, int milliseconds) {
  Kernel* const kernel = serving_for(from);
  if (kernel == nullptr) return FERMATA_REAL(poll)(asked, count, milliseconds);
  return answer(kernel->poll({asked, count}, limit_of_milliseconds(milliseconds)));
}

[[gnu::noinline]] int serve_epoll_wait(const void* from, int epoll, epoll_event* events, int room,
                                       int milliseconds) {
  Kernel* const kernel = serving_for(from);
  if (kernel == nullptr) return FERMATA_REAL(epoll_wait)(epoll, events, room, milliseconds);
  return answer(wait_for_epoll(*kernel, epoll, events, room, limit_of_milliseconds(milliseconds)));
}

[[gnu::noinline]] int serve_epoll_pwait(const void* from, int epoll, epoll_event* events, int room,
                                        int milliseconds, const sigset_t* mask) {
  Kernel* const kernel = serving_for(from);
  if (kernel == nullptr) return FERMATA_REAL(epoll_pwait)(epoll, events, room, milliseconds, mask);
  return answer(wait_for_epoll(*kernel, epoll, events, room, limit_of_milliseconds(milliseconds)));
}

}  // namespace

extern "C" {

// Spellings that headers do not declare.
int __poll_chk(pollfd* asked, nfds_t count, int milliseconds, size_t room);
int __ppoll_chk(pollfd* asked, nfds_t count, const timespec* limit, const sigset_t* mask,
                size_t room);

int poll(pollfd* asked, nfds_t count, int milliseconds) {
  FERMATA_PASS_ON(poll, asked, count, milliseconds)
  return serve_poll(__builtin_return_address(0), asked, count, milliseconds);
}

int ppoll(pollfd* asked, nfds_t count, const timespec* limit, const sigset_t* mask) {
  Kernel* const kernel = serving_for(__builtin_return_address(0));
  if (kernel == nullptr) return FERMATA_REAL(ppoll)(asked, count, limit, mask);
  if (limit != nullptr && !is_valid(*limit)) return answer(-EINVAL);
  return answer(kernel->poll({asked, count}, limit_of(limit)));
}

// What is too large for its buffer ends the program, in the real one.

int __poll_chk(pollfd* asked, nfds_t count, int milliseconds, size_t room) {
  if (serving == nullptr || room / sizeof *asked < count) {
    return FERMATA_REAL(__poll_chk)(asked, count, milliseconds, room);
  }
  return poll(asked, count, milliseconds);
}

int __ppoll_chk(pollfd* asked, nfds_t count, const timespec* limit, const sigset_t* mask,
                size_t room) {
  if (serving == nullptr || room / sizeof *asked < count) {
    return FERMATA_REAL(__ppoll_chk)(asked, count, limit, mask, room);
  }
  return ppoll(asked, count, limit, mask);
}

// The system leaves in `limit` what is left of it; here that is untouched, as elsewhere.
int select(int end, fd_set* readable, fd_set* writable, fd_set* exceptional, timeval* limit) {
  Kernel* const kernel = serving_for(__builtin_return_address(0));
  if (kernel == nullptr) return FERMATA_REAL(select)(end, readable, writable, exceptional, limit);
  if (limit != nullptr && (limit->tv_sec < 0 || limit->tv_usec < 0)) return answer(-EINVAL);
  return answer(select_by_poll(*kernel, end, readable, writable, exceptional, limit_of(limit)));
}

int pselect(int end, fd_set* readable, fd_set* writable, fd_set* exceptional, const timespec* limit,
            const sigset_t* mask) {
  Kernel* const kernel = serving_for(__builtin_return_address(0));
  if (kernel == nullptr) {
    return FERMATA_REAL(pselect)(end, readable, writable, exceptional, limit, mask);
  }
  if (limit != nullptr && !is_valid(*limit)) return answer(-EINVAL);
  return answer(select_by_poll(*kernel, end, readable, writable, exceptional, limit_of(limit)));
}

// --- epoll ---

int epoll_create1(int flags) noexcept {
  Kernel* const kernel = serving;
  if (kernel == nullptr) return FERMATA_REAL(epoll_create1)(flags);
  return answer(kernel->epoll_create(flags));
}

int epoll_create(int size) noexcept {
  Kernel* const kernel = serving;
  if (kernel == nullptr) return FERMATA_REAL(epoll_create)(size);
  return answer(size > 0 ? kernel->epoll_create(0) : -EINVAL);
}

int epoll_ctl(int epoll, int operation, int descriptor, epoll_event* event) noexcept {
  Kernel* const kernel = serving;
  if (kernel == nullptr) return FERMATA_REAL(epoll_ctl)(epoll, operation, descriptor, event);
  return answer(kernel->epoll_ctl(epoll, operation, descriptor, event));
}

int epoll_wait(int epoll, epoll_event* events, int room, int milliseconds) {
  FERMATA_PASS_ON(epoll_wait, epoll, events, room, milliseconds)
  return serve_epoll_wait(__builtin_return_address(0), epoll, events, room, milliseconds);
}

int epoll_pwait(int epoll, epoll_event* events, int room, int milliseconds, const sigset_t* mask) {
  FERMATA_PASS_ON(epoll_pwait, epoll, events, room, milliseconds, mask)
  return serve_epoll_pwait(__builtin_return_address(0), epoll, events, room, milliseconds, mask);
}

int epoll_pwait2(int epoll, epoll_event* events, int room, const timespec* limit,
                 const sigset_t* mask) {
  Kernel* const kernel = serving_for(__builtin_return_address(0));
  if (kernel == nullptr) return FERMATA_REAL(epoll_pwait2)(epoll, events, room, limit, mask);
  if (limit != nullptr && !is_valid(*limit)) return answer(-EINVAL);
  return answer(wait_for_epoll(*kernel, epoll, events, room, limit_of(limit)));
}

// --- descriptors that count, and that tell the time ---

int eventfd(unsigned count, int flags) noexcept {
  Kernel* const kernel = serving;
  if (kernel == nullptr) return FERMATA_REAL(eventfd)(count, flags);
  return answer(kernel->eventfd(count, flags));
}

int eventfd_read(int descriptor, eventfd_t* count) {
  if (serving_for(__builtin_return_address(0), descriptor) == nullptr) {
    return FERMATA_REAL(eventfd_read)(descriptor, count);
  }
  return ::read(descriptor, count, sizeof *count) == sizeof *count ? 0 : -1;
}

int eventfd_write(int descriptor, eventfd_t count) {
  if (serving_for(__builtin_return_address(0), descriptor) == nullptr) {
    return FERMATA_REAL(eventfd_write)(descriptor, count);
  }
  return ::write(descriptor, &count, sizeof count) == sizeof count ? 0 : -1;
}

int timerfd_create(clockid_t clock, int flags) noexcept {
  Kernel* const kernel = serving;
  if (kernel == nullptr) return FERMATA_REAL(timerfd_create)(clock, flags);
  return answer(kernel->timerfd_create(clock, flags));
}

int timerfd_settime(int descriptor, int flags, const itimerspec* setting,
                    itimerspec* before) noexcept {
  Kernel* const kernel = serving;
  if (kernel == nullptr) return FERMATA_REAL(timerfd_settime)(descriptor, flags, setting, before);
  if (!is_valid(setting->it_value) || !is_valid(setting->it_interval)) return answer(-EINVAL);
  return answer(kernel->timerfd_settime(descriptor, flags, *setting, before));
}

int timerfd_gettime(int descriptor, itimerspec* left) noexcept {
  Kernel* const kernel = serving;
  if (kernel == nullptr) return FERMATA_REAL(timerfd_gettime)(descriptor, left);
  return answer(kernel->timerfd_gettime(descriptor, *left));
}

}  // extern "C"
