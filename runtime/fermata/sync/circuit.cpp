// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/circuit.hpp"

#include <fmt/format.h>

#include "fermata/base/error.hpp"
#include "fermata/core/suspend.hpp"

namespace fermata {

const char* to_string(CircuitState state) noexcept {
  switch (state) {
    case CircuitState::Active:
      return "ACTIVE";
    case CircuitState::Inactive:
      return "INACTIVE";
    case CircuitState::Recovering:
      return "RECOVERING";
  }
  return "ACTIVE";
}

ConsecutiveFailures::ConsecutiveFailures(unsigned limit, Duration cool_down)
    : limit_(limit), cool_down_(cool_down) {
  if (limit == 0) throw UsageError("ConsecutiveFailures: limit of 0: expected 1 or more");
  if (cool_down >= Duration::zero()) return;
  throw UsageError(fmt::format("ConsecutiveFailures: cool_down of {} ns: expected zero or more",
                               cool_down.count()));
}

void ConsecutiveFailures::report_success(Circuit& source) {
  failures_ = 0;
  if (source.state() == CircuitState::Recovering) source.activate();
}

void ConsecutiveFailures::report_failure(Circuit& source, const std::exception_ptr&) {
  if (source.state() == CircuitState::Inactive) return;
  ++failures_;
  if (failures_ < limit_ && source.state() == CircuitState::Active) return;
  opened_at_ = now();
  source.deactivate();
}

bool ConsecutiveFailures::should_recover(Circuit&) { return now() - opened_at_ >= cool_down_; }

}  // namespace fermata
