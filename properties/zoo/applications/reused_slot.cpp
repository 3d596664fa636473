// SPDX-License-Identifier: Apache-2.0

// An answer goes to the slot that the question came from. When the one who asked has left by then,
// and somebody else has got its slot, it goes to a stranger. (ABA)

#include <array>
#include <string>

#include "properties/zoo/applications/application.hpp"

namespace fermata::properties::zoo {

using namespace std::chrono_literals;

namespace {

struct Slot {
  std::string owner;  // Empty: free.
  int generation = 0;
};

}  // namespace

FERMATA_APPLICATION(ReusedSlot) {
  std::array<Slot, 1> slots;
  std::string answered;
  const auto join = [&](const std::string& who) {
    for (Slot& slot : slots) {
      if (slot.owner.empty()) slot = {who, slot.generation + 1};
    }
  };
  join("ann");
  const auto worker = spawn("worker", [&] {
    const Slot asked = slots[0];
    delay(3ms);  // finds the answer
    const bool same = variant == Variant::Buggy || slots[0].generation == asked.generation;
    if (same && !slots[0].owner.empty()) answered = slots[0].owner;
  });
  const auto ann = spawn("ann", [&] {
    delay(1ms);
    delay(2ms);  // has enough of waiting
    slots[0].owner.clear();
  });
  const auto bob = spawn("bob", [&] {
    delay(2ms);
    delay(1ms);  // on the way
    join("bob");
  });
  spawn_bystanders(3);
  await(worker);
  await(ann);
  await(bob);
  EXPECT_NE(answered, "bob");
}

}  // namespace fermata::properties::zoo
