// SPDX-License-Identifier: Apache-2.0
#pragma once

// FERMATA_FUNCTIONS(ROW): calls ROW(kind, name) for each function of the C library that
// fermata::posix defines anew, by what it touches. Those that the guard of the simulator watches
// are its own, and are served there.

// clang-format off
#define FERMATA_FUNCTIONS(ROW) \
  ROW(fdio, __read_chk) \
  ROW(fdio, close) \
  ROW(fdio, dup) \
  ROW(fdio, dup2) \
  ROW(fdio, dup3) \
  ROW(fdio, fcntl) \
  ROW(fdio, fcntl64) \
  ROW(fdio, ioctl) \
  ROW(fdio, pipe) \
  ROW(fdio, pipe2) \
  ROW(fdio, read) \
  ROW(fdio, readv) \
  ROW(fdio, write) \
  ROW(fdio, writev) \
  ROW(socket, __recv_chk) \
  ROW(socket, __recvfrom_chk) \
  ROW(socket, accept) \
  ROW(socket, accept4) \
  ROW(socket, bind) \
  ROW(socket, connect) \
  ROW(socket, getpeername) \
  ROW(socket, getsockname) \
  ROW(socket, getsockopt) \
  ROW(socket, listen) \
  ROW(socket, recv) \
  ROW(socket, recvfrom) \
  ROW(socket, recvmmsg) \
  ROW(socket, recvmsg) \
  ROW(socket, send) \
  ROW(socket, sendmmsg) \
  ROW(socket, sendmsg) \
  ROW(socket, sendto) \
  ROW(socket, setsockopt) \
  ROW(socket, shutdown) \
  ROW(socket, socket) \
  ROW(socket, socketpair) \
  ROW(poll, __poll_chk) \
  ROW(poll, __ppoll_chk) \
  ROW(poll, epoll_create) \
  ROW(poll, epoll_create1) \
  ROW(poll, epoll_ctl) \
  ROW(poll, epoll_pwait) \
  ROW(poll, epoll_pwait2) \
  ROW(poll, epoll_wait) \
  ROW(poll, eventfd) \
  ROW(poll, eventfd_read) \
  ROW(poll, eventfd_write) \
  ROW(poll, poll) \
  ROW(poll, ppoll) \
  ROW(poll, pselect) \
  ROW(poll, select) \
  ROW(poll, timerfd_create) \
  ROW(poll, timerfd_gettime) \
  ROW(poll, timerfd_settime) \
  ROW(dns, getaddrinfo) \
  ROW(dns, gethostbyname) \
  ROW(dns, gethostname) \
  ROW(dns, getifaddrs) \
  ROW(dns, getnameinfo) \
  ROW(dns, if_indextoname) \
  ROW(dns, if_nametoindex) \
  ROW(time, clock_getres) \
  ROW(rand, arc4random_buf) \
  ROW(rand, arc4random_uniform) \
  ROW(rand, rand) \
  ROW(rand, random) \
  ROW(rand, srand) \
  ROW(rand, srandom)
// clang-format on
