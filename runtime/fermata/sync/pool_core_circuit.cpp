// SPDX-License-Identifier: Apache-2.0

// The circuit of a pool: who is let in, and who switches it.

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sync/pool_claim.hpp"
#include "fermata/sync/pool_core.hpp"

namespace fermata::detail {

template <class Call>
void PoolCore::tell_strategy(Call&& call) noexcept {
  const std::shared_ptr<CircuitStrategy> strategy = strategy_;  // It may replace itself.
  if (strategy == nullptr) return;
  const NoSuspend guard(runtime());
  if (const auto error = error_of([&] { call(*strategy); })) {
    log("An error of the circuit's strategy", error);
  }
}

void PoolCore::set_strategy(std::shared_ptr<CircuitStrategy> strategy) noexcept {
  strategy_ = std::move(strategy);
  if (strategy_ != nullptr) {
    detours_ |= kStrategy;
  } else {
    detours_ = static_cast<std::uint8_t>(detours_ & ~kStrategy);
  }
}

std::optional<std::uint64_t> PoolCore::admit() {
  if (state_ == CircuitState::Inactive) {
    bool ready = false;
    tell_strategy([&](CircuitStrategy& strategy) { ready = strategy.should_recover(*this); });
    if (ready && state_ == CircuitState::Inactive) recover();
  }
  if (state_ == CircuitState::Inactive) return std::nullopt;
  if (state_ == CircuitState::Active || settings_.probes == 0) return 0;
  if (probes_out_ >= settings_.probes) return std::nullopt;
  ++probes_out_;
  FERMATA_ASSERT(probes_out_ <= settings_.probes);
  return probation_;
}

void PoolCore::activate() { enter(CircuitState::Active); }

void PoolCore::recover() {
  ++probation_;
  probes_out_ = 0;
  enter(CircuitState::Recovering);
}

void PoolCore::deactivate() { enter(CircuitState::Inactive); }

void PoolCore::enter(CircuitState state) {
  state_ = state;
  if (state == CircuitState::Active) {
    detours_ = static_cast<std::uint8_t>(detours_ & ~kCircuit);
  } else {
    detours_ |= kCircuit;
  }
  FERMATA_ASSERT(((detours_ & kCircuit) == 0) == (state_ == CircuitState::Active));
  if (state == CircuitState::Inactive) {
    line_.fail_all(std::make_exception_ptr(about(ServiceUnavailable(kServiceIsUnavailable))), true);
  } else {
    wake_waiters();
  }
}

void PoolCore::report_success(std::uint64_t probation) {
  tell_strategy([this](CircuitStrategy& strategy) { strategy.report_success(*this); });
  if (on_probation(probation)) activate();
}

void PoolCore::report_failure(std::uint64_t probation, const std::exception_ptr& error) {
  tell_strategy([&](CircuitStrategy& strategy) { strategy.report_failure(*this, error); });
  if (on_probation(probation)) deactivate();
}

}  // namespace fermata::detail
