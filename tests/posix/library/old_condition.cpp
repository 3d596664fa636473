// SPDX-License-Identifier: Apache-2.0

// A library that waits at a condition variable as one of 2001 does.

asm(".symver wait_as_ever, pthread_cond_wait@GLIBC_2.2.5");
extern "C" int wait_as_ever(void* condition, void* mutex);

extern "C" int fermata_test_wait_as_ever(void* condition, void* mutex) {
  return wait_as_ever(condition, mutex);
}
