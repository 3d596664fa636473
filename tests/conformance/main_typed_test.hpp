// SPDX-License-Identifier: Apache-2.0
#pragma once

// MAIN_TYPED_TEST(Suite, Name) { ... }: as TYPED_TEST, with a body that is the main coroutine of a
// program on the arm TypeParam, and that needs no object of its fixture.

#include <gtest/gtest.h>

#define MAIN_TYPED_TEST(Suite, Name)                                     \
  template <class Param>                                                 \
  class Suite##_##Name##_Main : public Suite<Param> {                    \
    using TestFixture = Suite<Param>;                                    \
    using TypeParam = Param;                                             \
                                                                         \
   public:                                                               \
    static void in_main();                                               \
  };                                                                     \
  TYPED_TEST(Suite, Name) {                                              \
    TypeParam::run([] { Suite##_##Name##_Main<TypeParam>::in_main(); }); \
  }                                                                      \
  template <class Param>                                                 \
  void Suite##_##Name##_Main<Param>::in_main()
