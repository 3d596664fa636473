// SPDX-License-Identifier: Apache-2.0
//
// Section F of the list, and X26 of the additions: what callbacks throw.

#include "tests/conformance/loop_case.hpp"

namespace fermata::conformance {
namespace {

class LoopErrors : public LoopCase {};
INSTANTIATE_TEST_SUITE_P(Arms, LoopErrors, every_arm(), arm_name);

LOOP_CASE(LoopErrors, WhatACallbackThrowsEndsTheRun) {
  loop.defer([] { throw Planned("from a defer"); });
  EXPECT_EQ(uncaught_in<Planned>([&] { arm.drive(); }), "from a defer");
}

LOOP_CASE(LoopErrors, WhatARepeatThrowsEndsTheRun) {
  const CallbackId id = loop.repeat(1ms, [] { throw Planned("from a repeat"); });
  EXPECT_EQ(uncaught_in<Planned>([&] { arm.drive(); }), "from a repeat");
  EXPECT_TRUE(loop.is_enabled(id));
}

LOOP_CASE(LoopErrors, AnErrorHandlerIsGivenWhatACallbackThrows) {
  EXPECT_FALSE(loop.error_handler());
  std::string received;
  loop.set_error_handler([&](std::exception_ptr error) {
    received = text_of<Planned>([&] { std::rethrow_exception(error); });
  });
  EXPECT_TRUE(loop.error_handler());
  int calls = 0;
  loop.defer([] { throw Planned("handled"); });
  loop.defer([&] { ++calls; });
  arm.drive();
  EXPECT_EQ(received, "handled");
  EXPECT_EQ(calls, 1);
  loop.set_error_handler(nullptr);
  EXPECT_FALSE(loop.error_handler());
  loop.defer([] { throw Planned("not handled"); });
  EXPECT_EQ(uncaught_in<Planned>([&] { arm.drive(); }), "not handled");
}

LOOP_CASE(LoopErrors, AnUncaughtErrorNamesItsCallbackAndItsCause) {
  CallbackId second = 0;
  loop.defer([&] { second = loop.defer([] { throw Planned("in the second tick"); }); });
  const std::string text = text_of<loop::UncaughtError>([&] { arm.drive(); });
  EXPECT_NE(text.find("Planned"), std::string::npos) << text;
  EXPECT_NE(text.find("in the second tick"), std::string::npos) << text;
  EXPECT_NE(text.find("defer callback " + std::to_string(second)), std::string::npos) << text;
}

LOOP_CASE(LoopErrors, AnUncaughtErrorOfTheHandlerIsNotWrappedAgain) {
  const auto mine = std::make_exception_ptr(
      loop::UncaughtError("the handler", std::make_exception_ptr(Planned("mine"))));
  loop.set_error_handler([&](std::exception_ptr) { std::rethrow_exception(mine); });
  loop.defer([] { throw Planned("first"); });
  try {
    arm.drive();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const loop::UncaughtError&) {
    EXPECT_EQ(std::current_exception(), mine);
  }
}

LOOP_CASE(LoopErrors, WhatAStreamsFunctionThrowsEndsTheRun) {
  loop.on_writable(arm.always_writable(), [] { throw Planned("from a writable"); });
  EXPECT_EQ(uncaught_in<Planned>([&] { arm.drive(); }), "from a writable");
}

LOOP_CASE(LoopErrors, WhatAnyKindOfCallbackThrowsEndsTheRun) {
  for (const CallbackKind kind : kEveryKind) {
    SCOPED_TRACE(to_string(kind));
    const CallbackId id = add(arm, kind, [](CallbackId) { throw Planned("of its kind"); });
    provoke(arm, kind);
    EXPECT_EQ(uncaught_in<Planned>([&] { arm.drive(); }), "of its kind");
    const bool once = kind == CallbackKind::Defer || kind == CallbackKind::Delay;
    EXPECT_NE(loop.has(id), once);
    loop.cancel(id);
  }
  arm.drive();
}

LOOP_CASE(LoopErrors, WhatWasReadyWhenOneThrewRunsInTheNextRun) {
  std::vector<int> order;
  loop.defer([] { throw Planned("the first"); });
  loop.defer([&] { order.push_back(2); });
  loop.defer([&] { order.push_back(3); });
  EXPECT_EQ(uncaught_in<Planned>([&] { arm.drive(); }), "the first");
  EXPECT_TRUE(order.empty());
  loop.defer([&] { order.push_back(4); });
  arm.drive();
  EXPECT_EQ(order, (std::vector{2, 3, 4}));
}

}  // namespace
}  // namespace fermata::conformance
