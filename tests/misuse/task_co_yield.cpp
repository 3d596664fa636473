// expects: yield_value
#include "fermata/sync/task.hpp"

fermata::Task<int> wrong() { co_yield 1; }
