// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "fermata/uv/reactor.hpp"
#include "tests/conformance/real_arm.hpp"

namespace fermata::conformance {

struct OnUv {
  static std::unique_ptr<backend::Reactor> reactor() { return uv::make_reactor(); }
};
using UvArm = RealArm<OnUv>;

/// In other orders than the system's; others in each run.
struct OnUvReordered {
  static std::unique_ptr<backend::Reactor> reactor() {
    static std::uint64_t seed = 0;
    return uv::make_reactor({.reorder = ++seed});
  }
};
using UvReorderArm = RealArm<OnUvReordered>;

}  // namespace fermata::conformance
