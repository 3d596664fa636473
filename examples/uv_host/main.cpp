// SPDX-License-Identifier: Apache-2.0

// A guest in a libuv loop that the program runs itself.

#include <uv.h>

#include <cstdio>

#include "fermata/runtime.hpp"
#include "fermata/uv/guest.hpp"

using namespace std::chrono_literals;

int main() {
  uv_loop_t loop;
  uv_loop_init(&loop);
  {
    fermata::uv::Guest guest(loop);
    guest.spawn("worker", [] {
      const int answer = fermata::offload([] { return 6 * 7; });
      fermata::delay(10ms);
      std::printf("the answer is %d\n", answer);
    });
    uv_run(&loop, UV_RUN_DEFAULT);  // Returns when neither the program nor the guest has work.
    std::printf("idle: %s\n", guest.is_idle() ? "yes" : "no");
  }
  uv_run(&loop, UV_RUN_DEFAULT);  // For what the guest has asked to be closed.
  return uv_loop_close(&loop);
}
