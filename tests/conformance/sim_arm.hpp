// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "fermata/base/function_ref.hpp"
#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/tape/decisions.hpp"
#include "fermata/sim/world/world.hpp"

namespace fermata::conformance {

/// The simulated reactor, in a world without faults, audited in full after every step.
struct SimArm {
  static constexpr bool kReal = false;

  /// What a body finds in its world.
  using Prepare = std::function<void(sim::World&)>;

  /// Runs `body` as the main coroutine of a node; what the world finds fails the test.
  static void run(detail::FunctionRef<void()> body, const Prepare& prepare = nullptr) {
    const auto failure = failure_of(body, prepare);
    if (failure) ADD_FAILURE() << failure->message << "\n" << failure->explanation;
  }

  /// Runs `body` and says what ended the run; empty when nothing did.
  static std::string error_of(detail::FunctionRef<void()> body) {
    const auto failure = failure_of(body, nullptr);
    return failure ? failure->message : std::string();
  }

  /// The program that runs gets `signum`.
  static void raise(int signum) { node_->signal(signum); }

  /// Its standard streams.
  static sim::Terminal& terminal() { return node_->terminal(); }

 private:
  static std::optional<sim::Failure> failure_of(detail::FunctionRef<void()> body,
                                                const Prepare& prepare) {
    const auto strategy = sim::make_strategy("fifo");
    sim::Decisions decisions(*strategy);
    sim::WorldOptions options;
    options.faults = sim::FaultSet::none();
    options.full_audit = true;
    sim::World world(decisions, options);
    if (prepare) prepare(world);
    node_ = &world.node("main", body);
    world.run();
    node_ = nullptr;
    return world.failure();
  }

  static inline sim::Node* node_ = nullptr;
};

}  // namespace fermata::conformance
