// SPDX-License-Identifier: Apache-2.0
#include <fermata/host/guest.hpp>

int main() {
  fermata::host::Guest guest;
  bool ran = false;
  guest.spawn("coroutine", [&] { ran = true; });
  while (!guest.is_idle()) guest.pump();
  return ran ? 0 : 1;
}
