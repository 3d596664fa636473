// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/guard/thrown_errors.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "fermata/runtime.hpp"
#include "fermata/sim/base/stack_text.hpp"
#include "fermata/sim/run/explore.hpp"

namespace thrown_errors_test {

// Of the user, whose functions are told by name where the program has no lines.
[[gnu::noinline]] void throw_from_deep_inside() { throw std::runtime_error("no such account"); }

}  // namespace thrown_errors_test

namespace fermata::sim::detail {
namespace {

using thrown_errors_test::throw_from_deep_inside;

std::exception_ptr thrown() {
  try {
    throw_from_deep_inside();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

TEST(ThrownErrors, TellWhereTheyWereThrown) {
  const NoteThrows note(true);
  const std::exception_ptr first = thrown();
  const std::exception_ptr second = thrown();
  EXPECT_FALSE(thrown_in(first).empty());
  const std::vector<std::string> lines = stack_text(thrown_in(second));
  ASSERT_FALSE(lines.empty());
  EXPECT_NE(lines.front().find("throw_from_deep_inside"), std::string::npos) << lines.front();
}

TEST(ThrownErrors, AreNotNotedUnlessSomebodyAsks) {
  const std::exception_ptr before = thrown();
  const NoteThrows note(true);
  EXPECT_TRUE(thrown_in(before).empty());
  EXPECT_TRUE(thrown_in(nullptr).empty());
  {
    const NoteThrows not_wanted(false);
    EXPECT_TRUE(thrown_in(thrown()).empty());
  }
  EXPECT_FALSE(thrown_in(thrown()).empty());
}

TEST(ThrownErrors, AreForgottenWithTheirMemory) {
  const NoteThrows note(true);
  for (int i = 0; i < 100; ++i) {
    static_cast<void>(thrown());
    const auto made = std::make_exception_ptr(std::runtime_error("made in the same place"));
    EXPECT_TRUE(thrown_in(made).empty());
  }
}

TEST(ThrownErrors, AreFewAtATime) {
  const NoteThrows note(true);
  std::vector<std::exception_ptr> errors;
  for (int i = 0; i < 100; ++i) errors.push_back(thrown());
  EXPECT_TRUE(thrown_in(errors.front()).empty());
  EXPECT_FALSE(thrown_in(errors.back()).empty());
}

TEST(ThrownErrors, AreInTheReportOfARunThatTheyEnd) {
  ExploreOptions options;
  options.runs = 10;
  const ExploreResult result = explore(options, [](World&) {
    const auto payer = spawn("payer", [] { throw_from_deep_inside(); });
    suspend();
  });
  ASSERT_TRUE(result.found);
  const std::string& text = result.found->failure.explanation;
  EXPECT_EQ(text.find("uncaught; thrown in\n"), 0u) << text;
  EXPECT_NE(text.find("throw_from_deep_inside"), std::string::npos) << text;
  EXPECT_EQ(text.find("fermata::sim::World::"), std::string::npos) << text;
}

}  // namespace
}  // namespace fermata::sim::detail
