// SPDX-License-Identifier: Apache-2.0

// The floor: what plain libuv does, in C.
//
// usage: bench_libuv_io send_file PATH BYTES | connect COUNT | idle_connection COUNT
// Prints bytes a second, connections a second, or resident bytes a connection.

#define _GNU_SOURCE
#include <signal.h>
#include <uv.h>

#include "common.h"

// --- a file to a socket ---

static uv_fs_t sending;
static uv_poll_t writable;
static int target;
static int file;
static long offset;
static long left;

static void send_some(void);

static void on_writable(uv_poll_t* poll, int status, int events) {
  (void)status;
  (void)events;
  uv_poll_stop(poll);
  send_some();
}

static void on_sent(uv_fs_t* request) {
  const ssize_t sent = request->result;
  uv_fs_req_cleanup(request);
  if (sent == UV_EAGAIN) {
    uv_poll_start(&writable, UV_WRITABLE, on_writable);
  } else {
    require(sent > 0, "sendfile");
    offset += sent;
    left -= sent;
    if (left > 0) send_some();
  }
}

static void send_some(void) {
  uv_fs_sendfile(uv_default_loop(), &sending, target, file, offset, (size_t)left, on_sent);
}

static double send_file(const char* path, long bytes) {
  unsigned short port;
  pthread_t reader;
  int listener = listening_socket(&port);
  fill_file(path, bytes);
  pthread_create(&reader, NULL, drain, &listener);
  target = connected_socket(port);
  fcntl(target, F_SETFL, O_NONBLOCK);
  uv_poll_init(uv_default_loop(), &writable, target);
  const double begin = seconds_now();
  file = open(path, O_RDONLY);
  left = bytes;
  send_some();
  uv_run(uv_default_loop(), UV_RUN_DEFAULT);
  shutdown(target, SHUT_WR);
  pthread_join(reader, NULL);
  return (double)bytes / (seconds_now() - begin);
}

// --- connections, one after the other ---

static struct sockaddr_in server;
static uv_tcp_t listener;
static uv_connect_t connecting;
static long connections_left;
static int ends_open;

static void connect_next(void);

static void on_closed(uv_handle_t* handle) {
  free(handle);
  if (--ends_open > 0) return;
  if (--connections_left > 0) {
    connect_next();
  } else {
    uv_stop(uv_default_loop());
  }
}

static void on_connected(uv_connect_t* request, int status) {
  require(status == 0, "connect");
  uv_tcp_close_reset((uv_tcp_t*)request->handle, on_closed);
}

static void connect_next(void) {
  uv_tcp_t* client = malloc(sizeof *client);
  uv_tcp_init(uv_default_loop(), client);
  ends_open = 2;
  uv_tcp_connect(&connecting, client, (const struct sockaddr*)&server, on_connected);
}

static void on_accepted(uv_stream_t* stream, int status) {
  require(status == 0, "accept");
  uv_tcp_t* peer = malloc(sizeof *peer);
  uv_tcp_init(uv_default_loop(), peer);
  uv_accept(stream, (uv_stream_t*)peer);
  uv_close((uv_handle_t*)peer, on_closed);
}

static void listen_with(uv_connection_cb welcome) {
  int size = sizeof server;
  uv_ip4_addr("127.0.0.1", 0, &server);
  uv_tcp_init(uv_default_loop(), &listener);
  uv_tcp_bind(&listener, (const struct sockaddr*)&server, 0);
  uv_listen((uv_stream_t*)&listener, kBacklog, welcome);
  uv_tcp_getsockname(&listener, (struct sockaddr*)&server, &size);
}

static double connect_and_close(long count) {
  listen_with(on_accepted);
  connections_left = count;
  const double begin = seconds_now();
  connect_next();
  uv_run(uv_default_loop(), UV_RUN_DEFAULT);
  return (double)count / (seconds_now() - begin);
}

// --- connections that say nothing ---

static char buffer[64 * 1024];
static long idle_left;

static void provide_buffer(uv_handle_t* handle, size_t size, uv_buf_t* provided) {
  (void)handle;
  (void)size;
  *provided = uv_buf_init(buffer, sizeof buffer);
}

static void on_read(uv_stream_t* stream, ssize_t size, const uv_buf_t* read) {
  (void)stream;
  (void)size;
  (void)read;
}

static void on_idle_accepted(uv_stream_t* stream, int status) {
  require(status == 0, "accept");
  uv_tcp_t* peer = malloc(sizeof *peer);
  uv_tcp_init(uv_default_loop(), peer);
  uv_accept(stream, (uv_stream_t*)peer);
  uv_read_start((uv_stream_t*)peer, provide_buffer, on_read);
  if (--idle_left == 0) uv_stop(uv_default_loop());
}

static double idle_connection(long count) {
  allow_descriptors();
  listen_with(on_idle_accepted);
  idle_left = count;
  const pid_t clients = hold_connections(ntohs(server.sin_port), count);
  const double before = resident_bytes();
  uv_run(uv_default_loop(), UV_RUN_DEFAULT);
  const double after = resident_bytes();
  kill(clients, SIGKILL);
  return (after - before) / (double)count;
}

int main(int argc, char** argv) {
  alarm(kSecondsMax);
  double value = 0;
  if (argc == 4 && strcmp(argv[1], "send_file") == 0) {
    value = send_file(argv[2], atol(argv[3]));
  } else if (argc == 3 && strcmp(argv[1], "connect") == 0) {
    value = connect_and_close(atol(argv[2]));
  } else if (argc == 3 && strcmp(argv[1], "idle_connection") == 0) {
    value = idle_connection(atol(argv[2]));
  } else {
    return 2;
  }
  printf("%.1f\n", value);
  return 0;
}
