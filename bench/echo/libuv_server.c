// SPDX-License-Identifier: Apache-2.0

// The floor of an echo server: plain libuv, one shared read buffer, uv_try_write first.

#define _GNU_SOURCE
#include "libuv_write.h"
#include "listen.h"

static char buffer[kBufferBytes];

static void free_handle(uv_handle_t* handle) { free(handle); }

static void provide_buffer(uv_handle_t* handle, size_t size, uv_buf_t* provided) {
  (void)handle;
  (void)size;
  *provided = uv_buf_init(buffer, sizeof buffer);
}

static void echo(uv_stream_t* peer, ssize_t size, const uv_buf_t* read) {
  if (size < 0) {
    uv_close((uv_handle_t*)peer, free_handle);
  } else if (size > 0) {
    write_all(peer, read->base, (size_t)size);
  }
}

static void welcome(uv_stream_t* listener, int status) {
  if (status != 0) return;
  uv_tcp_t* peer = malloc(sizeof *peer);
  uv_tcp_init(listener->loop, peer);
  uv_accept(listener, (uv_stream_t*)peer);
  uv_tcp_nodelay(peer, 1);
  uv_read_start((uv_stream_t*)peer, provide_buffer, echo);
}

int main(void) {
  uv_tcp_t listener;
  uv_tcp_init(uv_default_loop(), &listener);
  uv_tcp_open(&listener, listen_on_loopback());
  uv_listen((uv_stream_t*)&listener, kBacklog, welcome);
  return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
