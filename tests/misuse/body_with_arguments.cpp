// SPDX-License-Identifier: Apache-2.0
// expects: the body of a coroutine takes no arguments

#include <fermata/runtime.hpp>

void start() {
  fermata::spawn("adder", [](int a, int b) { return a + b; });
}
