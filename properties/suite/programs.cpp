// SPDX-License-Identifier: Apache-2.0
#include "properties/suite/programs.hpp"

#include "fermata/runtime.hpp"

namespace fermata::properties::suite {

void account(sim::World& world) {
  int balance = 0;
  const auto deposit = [&] {
    suspend();
    const int seen = balance;
    balance = seen + 1;
  };
  const auto a = spawn("a", deposit);
  const auto b = spawn("b", deposit);
  await(a);
  await(b);
  if (balance != 2) world.fail(sim::Verdict::Safety, "a deposit was lost");
}

void handover(sim::World& world) {
  constexpr int kItems = 5;
  int box = 0;
  int taken = 0;
  const auto producer = spawn("producer", [&] {
    for (int item = 1; item <= kItems; ++item) {
      while (box != 0) delay(std::chrono::milliseconds(1));
      box = item;
    }
  });
  const auto consumer = spawn("consumer", [&] {
    for (int item = 1; item <= kItems; ++item) {
      while (box == 0) delay(std::chrono::milliseconds(1));
      if (box != item) world.fail(sim::Verdict::Safety, "an item came out of order");
      box = 0;
      ++taken;
    }
  });
  await(producer);
  await(consumer);
  if (taken != kItems) world.fail(sim::Verdict::Safety, "an item was lost");
}

}  // namespace fermata::properties::suite
