// SPDX-License-Identifier: Apache-2.0
// expects: operation: the function returns a Task: expected co_await of that Task itself
#include "fermata/sync/task.hpp"

fermata::Task<> work();
fermata::Task<> wrong() {
  co_await fermata::operation([] { return work(); });
}
