// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/audit/step_teller.hpp"

#include <algorithm>

#include "fermata/base/assert.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/scope.hpp"
#include "fermata/sim/base/key.hpp"
#include "fermata/sim/tape/strategy.hpp"

namespace fermata::sim::detail {

namespace {

constexpr std::uint64_t name_of_use(std::uint64_t key) noexcept { return key & ~Footprint::kFlags; }

/// Whether all is known that is done with it. Of what the reactor has a part in, the place in the
/// order of steps may matter. The root scope belongs to the runtime.
bool is_known(const Event& event, bool gone) noexcept {
  if (event.kind() != backend::EventKind::Scope) return event.tells_uses();
  return gone || static_cast<const ScopeBase&>(event).is_root();
}

}  // namespace

void StepTeller::begin_run(const Runtime& runtime) {
  salt_ = key_of(runtime.options().name);
  first_fresh_ = 0;
  path_ = 0;
  uses_.clear();
}

void StepTeller::announced(std::uint64_t key, bool written) {
  uses_.push_back(name_of_use(key) | (written ? Footprint::kWrote : 0));
}

void StepTeller::use(const Event& event, bool gone) {
  if (!is_known(event, gone)) record_.sharing_unknown = true;
  const bool fresh = event.serial() >= first_fresh_;
  uses_.push_back(name_of_use(key_of(salt_, event.serial())) | Footprint::kWrote |
                  (fresh ? Footprint::kFresh : 0));
}

void StepTeller::end_step(const Runtime& runtime, std::span<const Event* const> touched) {
  for (const Event* event : touched) {
    if (event != nullptr) use(*event, false);
  }
  std::sort(uses_.begin(), uses_.end());
  sorted_.clear();
  add_uses(sorted_, uses_);
  const bool everything = !record_.sharing_announced || record_.sharing_unknown;
  FERMATA_ASSERT(record_.told_of_steps != nullptr);
  record_.told_of_steps->end_step(path_, Footprint{sorted_, everything});
  uses_.clear();
  path_ = 0;
  first_fresh_ = runtime.kernel().next_serial;
}

}  // namespace fermata::sim::detail
