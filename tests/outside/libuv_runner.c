// SPDX-License-Identifier: Apache-2.0

// What libuv's own runner defines for the tests.

char executable_path[4096];

/// Called by a helper that is ready; may be null.
void (*outside_ready)(void);

void notify_parent_process(void) {
  if (outside_ready != 0) outside_ready();
}
