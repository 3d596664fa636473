// SPDX-License-Identifier: Apache-2.0
// expects: nodiscard

#include <fermata/runtime.hpp>

void start() { fermata::Scope("workers"); }
