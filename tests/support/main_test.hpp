// SPDX-License-Identifier: Apache-2.0
#pragma once

// MAIN_TEST_F(Fixture, Name) { ... }: as TEST_F, with a body that is the main coroutine of a
// runtime. It is what the fixture's run() is given.

#include <gtest/gtest.h>

#define MAIN_TEST_F(Fixture, Name)                                                         \
  class Fixture##_##Name##_Main final : public Fixture {                                   \
    void TestBody() override {                                                             \
      run([this] { in_main(); });                                                          \
    }                                                                                      \
    void in_main();                                                                        \
  };                                                                                       \
  [[maybe_unused]] static const auto* const Fixture##_##Name##_info =                      \
      ::testing::RegisterTest(#Fixture, #Name, nullptr, nullptr, __FILE__, __LINE__,       \
                              []() -> Fixture* { return new Fixture##_##Name##_Main(); }); \
  void Fixture##_##Name##_Main::in_main()
