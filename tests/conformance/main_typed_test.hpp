// SPDX-License-Identifier: Apache-2.0
#pragma once

// MAIN_TYPED_TEST(Suite, Name) { ... }: as TYPED_TEST, with a body that is the main coroutine of a
// program on the arm TypeParam, and that needs no object of its fixture.
//
// MAIN_TYPED_TEST_WITH(Base, Suite, Name) { ... }: the body is a member of a class derived from
// Base, which is made, of whether the arm is real, before the program and goes after it.

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

#define MAIN_TYPED_TEST_WITH(Base, Suite, Name)              \
  template <class Param>                                     \
  struct Suite##_##Name##_Main : Base {                      \
    using TypeParam = Param;                                 \
    using Base::Base;                                        \
    void in_main();                                          \
  };                                                         \
  TYPED_TEST(Suite, Name) {                                  \
    Suite##_##Name##_Main<TypeParam> test(TypeParam::kReal); \
    TypeParam::run([&] { test.in_main(); });                 \
  }                                                          \
  template <class Param>                                     \
  void Suite##_##Name##_Main<Param>::in_main()
