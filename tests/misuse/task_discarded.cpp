// SPDX-License-Identifier: Apache-2.0
// expects: nodiscard
#include "fermata/sync/task.hpp"

fermata::Task<> work();
void wrong() { work(); }
