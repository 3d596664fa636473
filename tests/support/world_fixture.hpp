// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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

/// One world, without faults unless told otherwise, which is reset for each run.
class OneWorldFixture : public ::testing::Test {
 protected:
  explicit OneWorldFixture(std::string_view strategy = "random")
      : strategy_(sim::make_strategy(strategy)) {}

  void begin(sim::FaultSet faults = sim::FaultSet::none(), std::uint64_t seed = 1) {
    decisions_.begin(seed);
    options_.faults = faults;
    world_.reset(options_);
  }
  void finish() {
    world_.run();
    if (learns_) decisions_.end();
    ASSERT_FALSE(world_.failure()) << world_.failure()->message << "\n"
                                   << world_.failure()->explanation;
  }

  /// A run whose one program is `main`, and which does not fail.
  void run(std::function<void()> main) { run(sim::FaultSet::none(), 1, std::move(main)); }
  void run(sim::FaultSet faults, std::uint64_t seed, std::function<void()> main) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    begin(faults, seed);
    world_.node("main", std::move(main));
    finish();
  }
  /// How often `fault` has struck in this run.
  [[nodiscard]] std::uint64_t count(sim::Fault fault) const {
    return world_.fault_counts()[static_cast<std::size_t>(fault)];
  }

  std::unique_ptr<sim::Strategy> strategy_;
  sim::Decisions decisions_{*strategy_};
  sim::World world_{decisions_};
  sim::WorldOptions options_;
  bool learns_ = false;  // The strategy learns from each run, as it does from those of a runner.
};

}  // namespace fermata::test
