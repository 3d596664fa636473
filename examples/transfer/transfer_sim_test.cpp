// SPDX-License-Identifier: Apache-2.0

// Two transfers that lock their accounts in the order in which they were given them. This test
// fails, and is meant to: docs/guide/deadlocks.md shows what it says.

#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>

struct Account {
  fermata::Mutex mutex;
  int balance = 100;
};

void transfer(Account& from, Account& to) {
  const fermata::Mutex::Guard first(from.mutex);
  fermata::suspend();  // The book-keeping takes its time.
  const fermata::Mutex::Guard second(to.mutex);
  from.balance -= 10;
  to.balance += 10;
}

SIM_TEST(Bank, TransfersComeToAnEnd) {
  Account alice{fermata::Mutex("alice")};
  Account bob{fermata::Mutex("bob")};
  auto there = fermata::spawn("there", [&] { transfer(alice, bob); });
  auto back = fermata::spawn("back", [&] { transfer(bob, alice); });
  fermata::await(there);
  fermata::await(back);
}
