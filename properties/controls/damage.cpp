// SPDX-License-Identifier: Apache-2.0
#include "properties/controls/damage.hpp"

#include <fmt/format.h>

#include <ostream>

#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/tape/decisions.hpp"
#include "fermata/sim/world/world.hpp"

namespace fermata::properties {

std::ostream& operator<<(std::ostream& out, const Damage& damage) { return out << damage.id; }

std::string complaint_about(const Damage& damage) {
  const auto strategy = sim::make_strategy("fifo");
  sim::Decisions decisions(*strategy);
  sim::WorldOptions options;
  options.faults = sim::FaultSet::none();
  options.full_audit = damage.recounts;
  sim::World world(decisions, options);
  decisions.begin(1);
  world.node("main", damage.main);
  world.run();
  const std::string said = world.failure() ? world.failure()->message : "nothing";
  if (!said.starts_with(std::string(damage.id) + ": ") ||
      said.find(damage.says) == std::string::npos) {
    return fmt::format("expected to read \"{}: ... {}\", not: {}", damage.id, damage.says, said);
  }
  if (world.steps() > damage.step) {
    return fmt::format("expected it by step {}, not {}: {}", damage.step, world.steps(), said);
  }
  return {};
}

}  // namespace fermata::properties
