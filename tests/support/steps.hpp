// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace fermata::test {

/// What happened, in order.
using Steps = std::vector<std::string>;

}  // namespace fermata::test
