// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/escape_report.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>

namespace fermata::detail {
namespace {

void somebodys_handler() { std::abort(); }

TEST(EscapeReport, StaysWhileAnotherRuntimeWantsIt) {
  const std::terminate_handler before = std::get_terminate();
  {
    const EscapeReport outer;
    const std::terminate_handler ours = std::get_terminate();
    EXPECT_NE(ours, before);
    { const EscapeReport inner; }
    EXPECT_EQ(std::get_terminate(), ours);
  }
  EXPECT_EQ(std::get_terminate(), before);
}

TEST(EscapeReport, LeavesAHandlerThatSomebodyHasPutOverIt) {
  const std::terminate_handler before = std::get_terminate();
  {
    const EscapeReport report;
    std::set_terminate(&somebodys_handler);
  }
  EXPECT_EQ(std::get_terminate(), &somebodys_handler);
  std::set_terminate(before);
}

}  // namespace
}  // namespace fermata::detail
