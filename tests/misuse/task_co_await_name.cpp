// SPDX-License-Identifier: Apache-2.0
// expects: co_await: a Task is awaited once: expected a call that returns one, or std::move(task)
#include "fermata/sync/task.hpp"

fermata::Task<> wrong(fermata::Task<> task) { co_await task; }
