// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "fermata/sim/strategy/strategy.hpp"
#include "fermata/sim/tape/decisions.hpp"
#include "fermata/sim/world/world.hpp"

namespace fermata::conformance {

/// The simulated reactor, in a world without faults, audited in full after every step.
struct SimArm {
  /// Runs `body` as the main coroutine of a node; what the world finds fails the test.
  static void run(const std::function<void()>& body) {
    const auto strategy = sim::make_strategy("fifo");
    sim::Decisions decisions(*strategy);
    sim::WorldOptions options;
    options.faults = sim::FaultSet::none();
    options.full_audit = true;
    sim::World world(decisions, options);
    node_ = &world.node("main", body);
    world.run();
    node_ = nullptr;
    if (const auto& failure = world.failure()) {
      ADD_FAILURE() << failure->message << "\n" << failure->explanation;
    }
  }

  /// The program that runs gets `signum`.
  static void raise(int signum) { node_->signal(signum); }

 private:
  static inline sim::Node* node_ = nullptr;
};

}  // namespace fermata::conformance
