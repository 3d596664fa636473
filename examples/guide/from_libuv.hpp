// SPDX-License-Identifier: Apache-2.0
#pragma once

// The code of docs/guide/from_libuv.md, so that what the page shows is compiled and run.

#include <chrono>
#include <cstdio>
#include <fermata/runtime.hpp>

namespace guide::from_libuv {

using namespace std::chrono_literals;

inline void tour() {
  const int answer = fermata::offload([] { return 6 * 7; });
  fermata::delay(10ms);
  std::printf("the answer is %d\n", answer);
}

}  // namespace guide::from_libuv
