// SPDX-License-Identifier: Apache-2.0

// A guest in a program that has a loop of poll(2) of its own.

#include <poll.h>

#include <cstdio>

#include "fermata/host/guest.hpp"
#include "fermata/runtime.hpp"

using namespace std::chrono_literals;

int main() {
  fermata::host::Guest guest;
  guest.spawn("countdown", [] {
    for (int left = 3; left > 0; --left) {
      std::printf("%d\n", left);
      fermata::delay(10ms);
    }
    std::printf("lift-off\n");
  });

  pollfd watched = {guest.descriptor(), POLLIN, 0};  // Beside what the program watches itself.
  while (!guest.is_idle()) {
    if (::poll(&watched, 1, -1) > 0) guest.pump();
  }
}
