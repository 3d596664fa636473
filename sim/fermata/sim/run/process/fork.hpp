// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>

namespace fermata::sim {

/// Calls `body` in a fork of this process, which exits with what it returns. An Error that it
/// throws is printed to the standard error stream, and the fork exits with 1. It is killed when
/// this process ends. The caller collects it. Throws InputOutputError when there is no fork to be
/// had.
[[nodiscard]] pid_t start_fork(const std::function<int()>& body);

}  // namespace fermata::sim
