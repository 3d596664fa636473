// SPDX-License-Identifier: Apache-2.0

// The floor of an echo server on libev: a watcher a connection, a read and a write per message.

#define _GNU_SOURCE
#include <ev.h>

#include "peer.h"

static void echo(struct ev_loop* loop, ev_io* peer, int events) {
  (void)events;
  if (echo_once(peer->fd)) return;
  ev_io_stop(loop, peer);
  close(peer->fd);
  free(peer);
}

static void welcome(struct ev_loop* loop, ev_io* listener, int events) {
  (void)events;
  int descriptor;
  while ((descriptor = accept_peer(listener->fd)) >= 0) {
    ev_io* peer = malloc(sizeof *peer);
    ev_io_init(peer, echo, descriptor, EV_READ);
    ev_io_start(loop, peer);
  }
}

int main(void) {
  struct ev_loop* loop = ev_default_loop(0);
  ev_io listener;
  ev_io_init(&listener, welcome, listen_on_loopback(), EV_READ);
  ev_io_start(loop, &listener);
  ev_run(loop, 0);
  return 0;
}
