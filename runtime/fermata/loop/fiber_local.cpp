// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/fiber_local.hpp"

#include <algorithm>
#include <atomic>

#include "fermata/loop/machine.hpp"

namespace fermata::loop::detail {

std::uint64_t new_variable() noexcept {
  static std::atomic<std::uint64_t> next{1};  // Compared only: what it counts tells nobody apart.
  return next.fetch_add(1, std::memory_order_relaxed);
}

std::shared_ptr<void>& fiber_value(std::uint64_t variable) {
  auto& values = Loop::current().machine_->home().values;
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const auto& value) { return value.first == variable; });
  if (found != values.end()) return found->second;
  return values.emplace_back(variable, nullptr).second;
}

void clear_fiber_value(std::uint64_t variable) {
  auto& values = Loop::current().machine_->home().values;
  std::erase_if(values, [&](const auto& value) { return value.first == variable; });
}

}  // namespace fermata::loop::detail
