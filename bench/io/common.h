// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the contestants share: sockets on 127.0.0.1, the other side of what is measured, and the one
// number that each prints.

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { kBacklog = 1024, kSecondsMax = 120 };

static inline void require(int holds, const char* what) {
  if (holds) return;
  perror(what);
  exit(1);
}

static inline double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline double resident_bytes(void) {
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  require(file != NULL && fscanf(file, "%*s %ld", &pages) == 1, "statm");
  fclose(file);
  return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static inline int listening_socket(unsigned short* port) {
  struct sockaddr_in address;
  socklen_t size = sizeof address;
  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  require(bind(listener, (struct sockaddr*)&address, size) == 0, "bind");
  require(listen(listener, kBacklog) == 0, "listen");
  getsockname(listener, (struct sockaddr*)&address, &size);
  *port = ntohs(address.sin_port);
  return listener;
}

static inline int connected_socket(unsigned short port) {
  struct sockaddr_in address;
  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  require(connect(client, (struct sockaddr*)&address, sizeof address) == 0, "connect");
  return client;
}

/// A file of that many bytes, which the system still has in memory.
static inline void fill_file(const char* path, long bytes) {
  static char piece[1 << 20];
  const int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
  memset(piece, 'x', sizeof piece);
  while (bytes > 0) {
    const size_t part = bytes < (long)sizeof piece ? (size_t)bytes : sizeof piece;
    require(write(file, piece, part) == (ssize_t)part, "write");
    bytes -= (long)part;
  }
  close(file);
}

/// Accepts one connection at the listening socket that `argument` points to, and reads it to its
/// end without looking.
static inline void* drain(void* argument) {
  static char buffer[1 << 18];
  const int peer = accept(*(const int*)argument, NULL, NULL);
  while (recv(peer, buffer, sizeof buffer, MSG_TRUNC) > 0) continue;
  close(peer);
  return NULL;
}

/// A process that holds `count` connections to `port` and says nothing. Ended with its parent.
static inline pid_t hold_connections(unsigned short port, long count) {
  const pid_t child = fork();
  if (child != 0) return child;
  alarm(kSecondsMax);
  for (long i = 0; i < count; ++i) connected_socket(port);
  pause();
  _exit(0);
}

static inline void allow_descriptors(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}
