// SPDX-License-Identifier: Apache-2.0
// expects: co_await in a fermata::Task: expected a coroutine, a future, an event, another Task
#include <coroutine>

#include "fermata/sync/task.hpp"

fermata::Task<> wrong() { co_await std::suspend_always(); }
