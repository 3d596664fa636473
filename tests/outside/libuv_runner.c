// SPDX-License-Identifier: Apache-2.0

// What libuv's own runner defines for the tests, and does before it runs one.

#include <string.h>
#include <uv.h>

char executable_path[4096];

/// Called by a helper that is ready; may be null.
void (*outside_ready)(void);

void notify_parent_process(void) {
  if (outside_ready != NULL) outside_ready();
}

void outside_begin(int count, char** arguments) {
  strncpy(executable_path, arguments[0], sizeof executable_path - 1);
  uv_setup_args(count, arguments);
}
