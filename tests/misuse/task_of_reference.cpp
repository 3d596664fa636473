// SPDX-License-Identifier: Apache-2.0
// expects: Task: expected void or the type of a value, not of a reference or an array
#include "fermata/sync/task.hpp"

fermata::Task<int&> wrong(int& number) { co_return number; }
