// SPDX-License-Identifier: Apache-2.0

// The floor of an echo server on poll(2): a read and a write per message.

#define _GNU_SOURCE
#include "peer.h"

enum { kWatchedMax = 4096 };

static struct pollfd watched[kWatchedMax];
static nfds_t count;

static void watch(int descriptor) {
  if (count == kWatchedMax) abort();
  watched[count++] = (struct pollfd){.fd = descriptor, .events = POLLIN};
}

int main(void) {
  const int listener = listen_on_loopback();
  watch(listener);
  for (;;) {
    int ready = poll(watched, count, -1);
    if (watched[0].revents != 0) {
      int peer;
      --ready;
      while ((peer = accept_peer(listener)) >= 0) watch(peer);
    }
    for (nfds_t i = 1; ready > 0; ++i) {
      if (watched[i].revents == 0) continue;
      --ready;
      if (echo_once(watched[i].fd)) continue;
      close(watched[i].fd);
      watched[i--] = watched[--count];
    }
  }
}
