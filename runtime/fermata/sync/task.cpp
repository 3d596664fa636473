// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/task.hpp"

#include <fmt/format.h>

#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"

namespace fermata::detail {

void require_after(Duration span) {
  if (span >= Duration::zero()) return;
  throw UsageError(fmt::format("after: a span of {} ns: expected zero or more", span.count()));
}

void require_carrier(const char* caller) {
  if (current_runtime_pointer == nullptr) {
    throw UsageError(fmt::format(
        "{}: a Task is run outside of a coroutine: expected a call inside Runtime::run", caller));
  }
  current_runtime_pointer->scheduler().require_suspendable(caller);
}

}  // namespace fermata::detail
