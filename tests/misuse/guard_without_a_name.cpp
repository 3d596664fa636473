// SPDX-License-Identifier: Apache-2.0
// expects: nodiscard

#include <fermata/runtime.hpp>

void add(fermata::Mutex& mutex, int& sum) {
  fermata::Mutex::Guard{mutex};
  ++sum;
}
