// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tests/conformance/loop_arm.hpp"

namespace fermata::conformance {

/// Arms whose loop is a guest in the loop of somebody else.
[[nodiscard]] std::vector<ArmKind> hosted_kinds();

}  // namespace fermata::conformance
