// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/tape/decisions.hpp"
#include "fermata/sim/world/world.hpp"

namespace fermata::test {

/// A world, audited in full after each step, that a test fills and runs; one of seed 1 and without
/// faults from the beginning.
class WorldFixture : public ::testing::Test {
 protected:
  WorldFixture() { begin(1); }

  /// A new run, in a new world.
  void begin(std::uint64_t seed, sim::FaultSet faults = sim::FaultSet::none(),
             std::string_view strategy = "random") {
    strategy_ = sim::make_strategy(strategy);
    decisions_.emplace(*strategy_);
    decisions_->begin(seed);
    sim::WorldOptions options;
    options.faults = faults;
    options.full_audit = true;
    world_.emplace(*decisions_, options);
  }

  void run() {
    world_->run();
    ASSERT_FALSE(world_->failure()) << world_->failure()->message;
  }

  std::unique_ptr<sim::Strategy> strategy_;
  std::optional<sim::Decisions> decisions_;
  std::optional<sim::World> world_;
};

}  // namespace fermata::test
