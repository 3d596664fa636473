// SPDX-License-Identifier: Apache-2.0

// The limit of an echo server: level-triggered epoll, one buffer, a read and a write per message.

#define _GNU_SOURCE
#include <sys/epoll.h>

#include "peer.h"

enum { kEvents = 1024 };

static void watch(int poller, int descriptor) {
  struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
  epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event);
}

static void accept_all(int poller, int listener) {
  int peer;
  while ((peer = accept_peer(listener)) >= 0) watch(poller, peer);
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
      } else if (!echo_once(events[i].data.fd)) {
        close(events[i].data.fd);
      }
    }
  }
}
