// SPDX-License-Identifier: Apache-2.0
#pragma once

// GoogleTest whose assertions tell the open claims of FERMATA_CHECKS that they are executed. Tests
// find this header first when they include <gtest/gtest.h>.
//
// GoogleTest tells its listeners of failures only. But each of its assertions, EXPECT_EQ as well as
// ASSERT_THROW or EXPECT_DEATH, begins with this macro: `switch (0) case 0: default:`, which keeps
// compilers from warning of an else. Should another version begin them differently, no claim holds
// and every test that makes one is named.

#include_next <gtest/gtest.h>

#include "tests/support/checks.hpp"

#undef GTEST_AMBIGUOUS_ELSE_BLOCKER_
#define GTEST_AMBIGUOUS_ELSE_BLOCKER_                   \
  switch (::fermata::testing::note_assertion(__FILE__)) \
  case 0:                                               \
  default:  // NOLINT
