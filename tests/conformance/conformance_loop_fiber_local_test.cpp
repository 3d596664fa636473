// SPDX-License-Identifier: Apache-2.0
//
// Section K of the list: values of a fiber.

#include <optional>

#include "fermata/loop/fiber_local.hpp"
#include "tests/conformance/loop_case.hpp"

namespace fermata::conformance {
namespace {

using loop::FiberLocal;
using loop::Suspension;

class LoopFiberLocal : public LoopCase {};
INSTANTIATE_TEST_SUITE_P(Arms, LoopFiberLocal, every_arm(), arm_name);

LOOP_CASE(LoopFiberLocal, EachFiberHasAValueOfItsOwn) {
  int made = 0;
  FiberLocal<int> local([&] { return ++made; });
  EXPECT_EQ(local.get(), 1);
  int inside = 0;
  loop.defer([&] { inside = local.get(); });
  arm.drive();
  EXPECT_EQ(inside, 2);
  EXPECT_EQ(local.get(), 1);
  EXPECT_EQ(made, 2);
}

LOOP_CASE(LoopFiberLocal, AFiberMayUnsetItsValue) {
  FiberLocal<std::string> local([] { return std::string("initial"); });
  local.set("main");
  Suspension fiber;
  std::string kept;
  std::string reset;
  loop.queue([&] {
    local.set("fiber");
    fiber = loop.suspension();
    fiber.suspend();
    kept = local.get();
    local.unset();
    reset = local.get();
  });
  arm.drive();
  EXPECT_EQ(local.get(), "main");
  local.unset();
  EXPECT_EQ(local.get(), "initial");
  fiber.resume();
  arm.drive();
  EXPECT_EQ(kept, "fiber");
  EXPECT_EQ(reset, "initial");
}

LOOP_CASE(LoopFiberLocal, AReusedFiberStartsAnewInEachCallback) {
  FiberLocal<int> local([] { return 0; });
  std::vector<CoroutineBase*> fibers;
  int seen = -1;
  loop.defer([&] {
    fibers.push_back(&current_coroutine());
    local.set(1);
  });
  loop.defer([&] {
    fibers.push_back(&current_coroutine());
    seen = local.get();
  });
  arm.drive();
  EXPECT_EQ(seen, 0);
  EXPECT_EQ(fibers[0], fibers[1]);
}

LOOP_CASE(LoopFiberLocal, AReusedFiberStartsAnewInEachMicrotask) {
  FiberLocal<int> local([] { return 0; });
  int seen = -1;
  loop.queue([&] { local.set(1); });
  loop.queue([&] { seen = local.get(); });
  arm.drive();
  EXPECT_EQ(seen, 0);
}

LOOP_CASE(LoopFiberLocal, AnEmptyValueIsMadeOnce) {
  int made = 0;
  FiberLocal<std::optional<int>> local([&] {
    ++made;
    return std::optional<int>();
  });
  loop.defer([&] {
    EXPECT_FALSE(local.get().has_value());
    EXPECT_FALSE(local.get().has_value());
  });
  arm.drive();
  EXPECT_EQ(made, 1);
}

}  // namespace
}  // namespace fermata::conformance
