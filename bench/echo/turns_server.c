// SPDX-License-Identifier: Apache-2.0

// The floor of an echo server with a coroutine for each connection: libuv under two rules.
//
// Turns   No user code runs inside a callback of the loop (RX-01): what a turn has read is
//         answered at its end. libuv reads from all that are ready, 1,000 of 1,000 at worst.
// Stacks  Each connection reads into memory of its own, as far from the next one's as stacks are.

#define _GNU_SOURCE
#include <sys/mman.h>

#include "libuv_write.h"
#include "listen.h"

enum { kStackBytes = 256 * 1024, kGuardBytes = 16 * 1024, kFrameBytes = 2048, kReadBytes = 1024 };

typedef struct Peer {
  uv_tcp_t stream;
  char* stack;
  size_t size;        // Of what is not answered yet.
  struct Peer* next;  // Is answered after it.
} Peer;

static Peer* first;
static Peer** last = &first;

static char* buffer_of(Peer* peer) { return peer->stack + kStackBytes - kFrameBytes; }

static void free_peer(uv_handle_t* handle) {
  Peer* peer = (Peer*)handle;
  munmap(peer->stack, kStackBytes + kGuardBytes);
  free(peer);
}

static void provide_buffer(uv_handle_t* handle, size_t size, uv_buf_t* provided) {
  (void)size;
  Peer* peer = (Peer*)handle;
  *provided = uv_buf_init(buffer_of(peer), peer->size == 0 ? kReadBytes : 0);
}

static void put_in_line(uv_stream_t* stream, ssize_t size, const uv_buf_t* read) {
  (void)read;
  Peer* peer = (Peer*)stream;
  if (size == UV_ENOBUFS) return;  // It is in line.
  if (size < 0) {
    uv_close((uv_handle_t*)stream, free_peer);
  } else if (size > 0) {
    peer->size = (size_t)size;
    peer->next = NULL;
    *last = peer;
    last = &peer->next;
  }
}

static void answer_all(uv_check_t* turn) {
  (void)turn;
  for (Peer* peer = first; peer != NULL; peer = peer->next) {
    uv_stream_t* stream = (uv_stream_t*)&peer->stream;
    if (!uv_is_closing((uv_handle_t*)stream)) write_all(stream, buffer_of(peer), peer->size);
    peer->size = 0;
  }
  first = NULL;
  last = &first;
}

static void welcome(uv_stream_t* listener, int status) {
  if (status != 0) return;
  Peer* peer = calloc(1, sizeof *peer);
  peer->stack = mmap(NULL, kStackBytes + kGuardBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (peer->stack == MAP_FAILED) {
    perror("turns_server: mmap");
    exit(1);
  }
  uv_tcp_init(listener->loop, &peer->stream);
  uv_accept(listener, (uv_stream_t*)&peer->stream);
  uv_tcp_nodelay(&peer->stream, 1);
  uv_read_start((uv_stream_t*)&peer->stream, provide_buffer, put_in_line);
}

int main(void) {
  uv_tcp_t listener;
  uv_check_t turn;
  uv_tcp_init(uv_default_loop(), &listener);
  uv_tcp_open(&listener, listen_on_loopback());
  uv_listen((uv_stream_t*)&listener, kBacklog, welcome);
  uv_check_init(uv_default_loop(), &turn);
  uv_check_start(&turn, answer_all);
  return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
