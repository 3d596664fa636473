// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/world/world_access.hpp"

#include <utility>

#include "fermata/sim/world/world_state.hpp"

namespace fermata::sim::detail {

void WorldAccess::reset(const WorldOptions& options, const Instruments& instruments) {
  state_.reset(options, instruments);
}

const Instruments& WorldAccess::instruments() const noexcept { return state_.instruments(); }

std::uint64_t WorldAccess::present_step() const noexcept { return state_.begun; }

std::string WorldAccess::current_coroutine() const { return state_.current_coroutine(); }

std::string WorldAccess::current_machine() const { return state_.current_machine(); }

const std::vector<std::uint64_t>& WorldAccess::step_hashes() const noexcept {
  return state_.step_hashes;
}

std::span<const AssertionCounts> WorldAccess::assertion_counts() const noexcept {
  return state_.assertions;
}

void WorldAccess::set_assertion_counts(std::vector<AssertionCounts> counts) noexcept {
  state_.assertions = std::move(counts);
}

const std::vector<std::string>& WorldAccess::histories() const noexcept {
  return state_.histories();
}

std::size_t WorldAccess::keep_history(std::optional<std::size_t> number, std::string json) {
  return state_.keep_history(number, std::move(json));
}

void WorldAccess::printed(std::string_view text, bool continues) {
  state_.printed(text, continues);
}

}  // namespace fermata::sim::detail
