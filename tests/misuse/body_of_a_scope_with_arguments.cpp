// SPDX-License-Identifier: Apache-2.0
// expects: the body of a coroutine takes no arguments

#include <fermata/runtime.hpp>

void start(const fermata::Scope& scope) {
  scope.spawn("session", [](int number) { return number; });
}
