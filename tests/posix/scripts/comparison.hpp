// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "tests/posix/scripts/script.hpp"

namespace fermata::test {

/// Scripts that are run on Linux and in a world that is calm.
struct Comparison {
  /// The script of a number, always the same; an empty one in place of one that cannot run here.
  std::function<Script(std::uint64_t number)> draw;
  /// Called before each, in the world and in a process of Linux.
  std::function<void()> prepare;
  std::uint64_t scripts;  // How many, unless the environment says otherwise.
};

/// Both must answer alike; a difference is told with a script that is as short as can be. The
/// environment: SCRIPTS=100000 runs more of them; FIRST_SCRIPT=4711 begins there.
void compare_with_linux(const Comparison& comparison);

}  // namespace fermata::test
