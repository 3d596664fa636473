// expects: nodiscard
#include "fermata/sync/task.hpp"

fermata::Task<> work();
void wrong() { work(); }
