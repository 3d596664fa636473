// SPDX-License-Identifier: Apache-2.0
// expects: spawn: the name comes first

#include <fermata/runtime.hpp>

void start() {
  fermata::spawn([] {}, "worker");
}
