// SPDX-License-Identifier: Apache-2.0
#include "fermata/base/function_ref.hpp"
#include "tests/conformance/loop_arms/sim_arm.hpp"

#include <gtest/gtest.h>

#include <exception>

#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/tape/decisions.hpp"

namespace fermata::conformance {

void SimLoopArm::run_in_world(std::uint64_t seed, const loop::LoopOptions& loop_options,
                              detail::FunctionRef<void()> body) {
  const auto strategy = sim::make_strategy("fifo");
  sim::Decisions decisions(*strategy);
  decisions.begin(seed);
  sim::WorldOptions options;
  options.faults = sim::FaultSet::none();
  options.full_audit = true;
  sim::World world(decisions, options);
  std::exception_ptr error;
  node_ = &world.node("main", [&] {
    try {
      with_loop(loop_options, body);
    } catch (const std::exception&) {
      error = std::current_exception();
    }
  });
  world.run();
  node_ = nullptr;
  if (error) std::rethrow_exception(error);
  if (world.failure()) {
    ADD_FAILURE() << world.failure()->message << "\n" << world.failure()->explanation;
  }
}

}  // namespace fermata::conformance
