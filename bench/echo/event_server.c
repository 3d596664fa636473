// SPDX-License-Identifier: Apache-2.0

// The floor of an echo server on libevent: an event a connection, a read and a write per message.

#define _GNU_SOURCE
#include <event2/event.h>

#include "peer.h"

static void echo(evutil_socket_t descriptor, short events, void* argument) {
  struct event** peer = argument;
  (void)events;
  if (echo_once(descriptor)) return;
  event_free(*peer);
  close(descriptor);
  free(peer);
}

static void welcome(evutil_socket_t listener, short events, void* base) {
  (void)events;
  int descriptor;
  while ((descriptor = accept_peer(listener)) >= 0) {
    struct event** peer = malloc(sizeof *peer);
    *peer = event_new(base, descriptor, EV_READ | EV_PERSIST, echo, peer);
    event_add(*peer, NULL);
  }
}

int main(void) {
  struct event_base* base = event_base_new();
  event_add(event_new(base, listen_on_loopback(), EV_READ | EV_PERSIST, welcome, base), NULL);
  return event_base_dispatch(base);
}
