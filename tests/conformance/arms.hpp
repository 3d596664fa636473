// SPDX-License-Identifier: Apache-2.0
#pragma once

// The reactors that every body of this folder runs on.

#include <gtest/gtest.h>

#include "tests/conformance/poll_arm.hpp"
#include "tests/conformance/sim_arm.hpp"
#include "tests/conformance/uv_arm.hpp"

namespace fermata::conformance {

using Arms = ::testing::Types<UvArm, SimArm>;

/// Every arm, and libuv in other orders, for bodies about things that come in some order.
using OrderedArms = ::testing::Types<UvArm, SimArm, UvReorderArm>;

/// Every arm and the poll reactors, for bodies that need only the parts they serve.
using PollableArms = ::testing::Types<UvArm, SimArm, PollArm>;
using OrderedPollableArms = ::testing::Types<UvArm, SimArm, UvReorderArm, PollArm>;

inline backend::Reactor& reactor() { return current_runtime().reactor(); }

}  // namespace fermata::conformance
