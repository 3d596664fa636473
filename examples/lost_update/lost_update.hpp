// SPDX-License-Identifier: Apache-2.0
#pragma once

// A race. A deposit reads the balance, lets others run, and writes what it read plus one. In
// production's order the first one is done before the second begins; nothing promises that.

#include <fermata/runtime.hpp>

inline int deposit_twice() {
  int balance = 0;
  auto deposit = [&] {
    const int seen = balance;
    fermata::suspend();  // Others run here, as at every wait.
    balance = seen + 1;
  };
  auto first = fermata::spawn("first", deposit);
  fermata::suspend();
  auto second = fermata::spawn("second", deposit);
  fermata::await(first);
  fermata::await(second);
  return balance;
}
