// SPDX-License-Identifier: Apache-2.0

// A loop of callbacks in a guest, in a program that has a loop of poll(2) of its own.

#include <poll.h>

#include <cstdio>

#include "fermata/host/guest.hpp"
#include "fermata/loop/loop.hpp"
#include "fermata/runtime.hpp"

using namespace std::chrono_literals;

int main() {
  fermata::host::Guest guest;
  guest.spawn("callbacks", [] {
    fermata::loop::Loop loop({.hosted = true, .callbacks_per_turn = 64});
    int ticks = 0;
    loop.repeat(5ms, [&](fermata::loop::CallbackId id) {
      std::printf("tick %d\n", ++ticks);
      if (ticks == 3) loop.cancel(id);
    });
    loop.serve([&] {
      std::printf("nothing left to call\n");
      loop.stop();
    });
  });

  pollfd watched = {guest.descriptor(), POLLIN, 0};
  while (!guest.is_idle()) {
    if (::poll(&watched, 1, -1) > 0) guest.pump();
  }
}
