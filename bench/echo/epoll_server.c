// SPDX-License-Identifier: Apache-2.0

// The limit of an echo server: level-triggered epoll, one buffer, a read and a write per message.

#define _GNU_SOURCE
#include <poll.h>
#include <sys/epoll.h>

#include "listen.h"

enum { kEvents = 1024 };

static char buffer[kBufferBytes];

static void watch(int poller, int descriptor) {
  struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
  epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event);
}

static void accept_all(int poller, int listener) {
  const int on = 1;
  int peer;
  while ((peer = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
    setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    watch(poller, peer);
  }
}

static void write_all(int peer, const char* data, ssize_t size) {
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

static void echo(int peer) {
  const ssize_t size = read(peer, buffer, sizeof buffer);
  if (size > 0) {
    write_all(peer, buffer, size);
  } else {
    close(peer);
  }
}

int main(void) {
  const int listener = listen_on_loopback();
  const int poller = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event events[kEvents];
  watch(poller, listener);
  for (;;) {
    const int ready = epoll_wait(poller, events, kEvents, -1);
    for (int i = 0; i < ready; ++i) {
      if (events[i].data.fd == listener) {
        accept_all(poller, listener);
      } else {
        echo(events[i].data.fd);
      }
    }
  }
}
