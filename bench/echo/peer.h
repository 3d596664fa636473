// SPDX-License-Identifier: Apache-2.0
#pragma once

// One connection of a server that reads and writes by itself: what the C servers on readiness do.

#include <poll.h>
#include <stdbool.h>

#include "listen.h"

/// The next connection, or -1 when none waits.
static inline int accept_peer(int listener) {
  const int on = 1;
  const int peer = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (peer >= 0) setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return peer;
}

static inline void write_all(int peer, const char* data, ssize_t size) {
  while (size > 0) {
    const ssize_t written = write(peer, data, (size_t)size);
    if (written < 0) {
      struct pollfd writable = {.fd = peer, .events = POLLOUT};
      if (poll(&writable, 1, -1) < 0 || (writable.revents & POLLERR)) return;
      continue;
    }
    data += written;
    size -= written;
  }
}

/// One read, whose bytes go back. False when the peer has gone.
static inline bool echo_once(int peer) {
  static char buffer[kBufferBytes];
  const ssize_t size = read(peer, buffer, sizeof buffer);
  if (size > 0) write_all(peer, buffer, size);
  return size > 0;
}
