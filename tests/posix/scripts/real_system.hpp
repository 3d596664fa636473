// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tests/posix/scripts/script.hpp"

namespace fermata::test {

/// What the steps of each script answer on Linux, in a process of their own whose descriptors begin
/// at 3. `prepare` is called before each. `patient`: it gives the system some time after each step.
/// Throws std::runtime_error when the process does not end as it should.
[[nodiscard]] std::vector<std::vector<Answer>> perform_on_linux(
    std::span<const Script> scripts, const std::function<void()>& prepare, bool patient);

}  // namespace fermata::test
