// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "examples/lost_update/lost_update.hpp"
#include "fermata/sim/run/runner.hpp"

namespace fermata::test {

inline sim::Program program_of(std::function<void(sim::World& world)> body) {
  sim::Program program;
  program.body = std::move(body);
  return program;
}

/// Fails where one deposit overwrites the other.
inline void race(sim::World& /*world*/) { EXPECT_EQ(::deposit_twice(), 2); }

}  // namespace fermata::test
