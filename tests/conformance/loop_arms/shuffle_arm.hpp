// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "fermata/base/function_ref.hpp"
#include "tests/conformance/loop_arms/sim_arm.hpp"

namespace fermata::conformance {

/// A simulated loop that calls in any order which the contract allows. A case has several such
/// orders, one after the other: its body must begin anew each time.
class ShuffleArm final : public SimLoopArm {
 public:
  void run(detail::FunctionRef<void()> body) override {
    for (std::uint64_t seed = 1; seed <= kOrders; ++seed) {
      SCOPED_TRACE(::testing::Message() << "order " << seed);
      run_in_world(seed, {.ties = loop::TieOrder::Drawn}, body);
      if (::testing::Test::HasFailure()) return;
    }
  }

 private:
  static constexpr std::uint64_t kOrders = 20;
};

}  // namespace fermata::conformance
