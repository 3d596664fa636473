// SPDX-License-Identifier: Apache-2.0
// expects: await: a Task is awaited once: expected a call that returns one, or std::move(task)
#include "fermata/sync/task.hpp"

void wrong(fermata::Task<>& task) { fermata::await(task); }
