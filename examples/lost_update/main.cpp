// SPDX-License-Identifier: Apache-2.0

// The race in production, where it happens to go well.

#include <cstdio>
#include <fermata/runtime.hpp>

#include "examples/lost_update/lost_update.hpp"
#include "fermata/uv/reactor.hpp"

int main() {
  fermata::Runtime runtime(fermata::uv::make_reactor());
  return runtime.run([] { std::printf("two deposits of 1: balance %d\n", deposit_twice()); });
}
