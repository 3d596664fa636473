// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the C servers share: a listening socket on a free port of 127.0.0.1, whose number is
// printed, and an end after two minutes whatever happens.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { kMessageBytes = 64, kBufferBytes = 64 * 1024, kBacklog = 1024, kSecondsMax = 120 };

static inline int listen_on_loopback(void) {
  struct sockaddr_in address = {.sin_family = AF_INET};
  socklen_t size = sizeof address;
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener, (struct sockaddr*)&address, size) != 0 || listen(listener, kBacklog) != 0 ||
      getsockname(listener, (struct sockaddr*)&address, &size) != 0) {
    perror("listen_on_loopback");
    exit(1);
  }
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  alarm(kSecondsMax);
  return listener;
}
