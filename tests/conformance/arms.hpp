// SPDX-License-Identifier: Apache-2.0
#pragma once

// The reactors that every body of this folder runs on.

#include <gtest/gtest.h>

#include "tests/conformance/poll_arm.hpp"
#include "tests/conformance/sim_arm.hpp"
#include "tests/conformance/uv_arm.hpp"
#ifdef FERMATA_HAS_URING
#include "tests/conformance/uring_arm.hpp"
#endif

namespace fermata::conformance {

using Arms = ::testing::Types<UvArm, SimArm>;

/// Every arm, and libuv in other orders, for bodies about things that come in some order.
using OrderedArms = ::testing::Types<UvArm, SimArm, UvReorderArm>;

/// Every arm, the poll reactors and io_uring, for bodies that need only the parts they serve.
#ifdef FERMATA_HAS_URING
using PollableArms = ::testing::Types<UvArm, SimArm, PollArm, UringArm>;
using OrderedPollableArms = ::testing::Types<UvArm, SimArm, UvReorderArm, PollArm, UringArm>;
#else
using PollableArms = ::testing::Types<UvArm, SimArm, PollArm>;
using OrderedPollableArms = ::testing::Types<UvArm, SimArm, UvReorderArm, PollArm>;
#endif

inline backend::Reactor& reactor() { return current_runtime().reactor(); }

}  // namespace fermata::conformance
