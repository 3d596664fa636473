// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "tests/posix/library/cleanups.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

static void note(struct cleanups* self, int handler) { self->order[self->count++] = handler; }

static void outer(void* self) { note(self, 1); }

static void inner(void* self) { note(self, 2); }

static void unlock(void* argument) {
  struct cleanups* self = argument;
  note(self, 3);
  pthread_mutex_unlock(&self->mutex);
}

static void wait_for_condition(struct cleanups* self) {
  pthread_mutex_lock(&self->mutex);
  pthread_cleanup_push(unlock, self);
  for (;;) pthread_cond_wait(&self->condition, &self->mutex);
  pthread_cleanup_pop(0);
}

static void wait_for_it(struct cleanups* self) {
  struct pollfd asked = {.fd = self->descriptor, .events = POLLIN};
  sigset_t set;
  int taken = 0;
  char byte = 0;
  switch (self->kind) {
    case WAIT_READ:
      if (read(self->descriptor, &byte, 1) != 1) note(self, -1);
      break;
    case WAIT_POLL:
      poll(&asked, 1, -1);
      break;
    case WAIT_ACCEPT:
      accept(self->descriptor, NULL, NULL);
      break;
    case WAIT_SLEEP:
      sleep(1000);
      break;
    case WAIT_SEMAPHORE:
      sem_wait(&self->semaphore);
      break;
    case WAIT_CONDITION:
      wait_for_condition(self);
      break;
    case WAIT_SIGNAL:
      sigemptyset(&set);
      sigaddset(&set, SIGUSR2);
      sigwait(&set, &taken);
      break;
    case WAIT_PAUSE:
      pause();
      break;
    case WAIT_KINDS:
      break;
  }
}

void* WAIT_FUNCTION(void* cleanups) {
  pthread_cleanup_push(outer, cleanups);
  pthread_cleanup_push(inner, cleanups);
  wait_for_it(cleanups);
  pthread_cleanup_pop(0);
  pthread_cleanup_pop(0);
  return NULL;
}
