// SPDX-License-Identifier: Apache-2.0

// What libuv's own runner defines for the tests, and a main that runs one of them, or a helper.

#include <stdio.h>
#include <string.h>

#include "runner.h"
#include "task.h"
#include "test-list.h"

char executable_path[4096];

/// Called by a helper that is ready; may be null.
void (*outside_ready)(void);

void notify_parent_process(void) {
  if (outside_ready != NULL) outside_ready();
}

int outside_main(int count, char** arguments) {
  const char* const wanted = count > 1 ? arguments[1] : "";
  for (task_entry_t* task = TASKS; task->main != NULL; ++task) {
    if (strcmp(task->process_name, wanted) == 0) return task->main();
  }
  fprintf(stderr, "libuv_main: there is no test '%s'\n", wanted);
  return 2;
}
