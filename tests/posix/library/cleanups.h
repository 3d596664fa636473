// SPDX-License-Identifier: Apache-2.0
#ifndef FERMATA_TESTS_POSIX_LIBRARY_CLEANUPS_H
#define FERMATA_TESTS_POSIX_LIBRARY_CLEANUPS_H

/* A thread of C that has handlers for its end, and waits. */

#include <pthread.h>
#include <semaphore.h>

#ifdef __cplusplus
extern "C" {
#endif

enum wait_kind {
  WAIT_READ,
  WAIT_POLL,
  WAIT_ACCEPT,
  WAIT_SLEEP,
  WAIT_SEMAPHORE,
  WAIT_CONDITION,
  WAIT_SIGNAL,
  WAIT_PAUSE,
  WAIT_KINDS
};

struct cleanups {
  enum wait_kind kind;
  int descriptor;
  sem_t semaphore;
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  int order[8]; /* Of the handlers that have run. */
  int count;
};

/* Bodies of threads: the handlers are found by setjmp(), or by unwinding. */
void* wait_with_jumps(void* cleanups);
void* wait_with_unwinding(void* cleanups);

#ifdef __cplusplus
}
#endif

#endif
