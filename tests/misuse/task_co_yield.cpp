// SPDX-License-Identifier: Apache-2.0
// expects: yield_value
#include "fermata/sync/task.hpp"

fermata::Task<int> wrong() { co_yield 1; }
