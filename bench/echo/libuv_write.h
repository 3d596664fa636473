// SPDX-License-Identifier: Apache-2.0
#pragma once

// How the C servers on libuv answer: at once, and what the kernel does not take by a request.

#include <stdlib.h>
#include <string.h>
#include <uv.h>

typedef struct {
  uv_write_t request;
  char data[];
} PendingWrite;

static inline void free_write(uv_write_t* request, int status) {
  (void)status;
  free(request);
}

static inline void write_rest(uv_stream_t* peer, const char* data, size_t size) {
  PendingWrite* pending = malloc(sizeof *pending + size);
  memcpy(pending->data, data, size);
  uv_buf_t rest = uv_buf_init(pending->data, (unsigned)size);
  uv_write(&pending->request, peer, &rest, 1, free_write);
}

/// Writes all of `data`, which is not needed any more.
static inline void write_all(uv_stream_t* peer, char* data, size_t size) {
  uv_buf_t whole = uv_buf_init(data, (unsigned)size);
  const int written = uv_try_write(peer, &whole, 1);
  const size_t sent = written < 0 ? 0 : (size_t)written;
  if (sent < size) write_rest(peer, data + sent, size - sent);
}
