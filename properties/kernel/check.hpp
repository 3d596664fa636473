// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/fake_kernel.hpp"

namespace fermata::properties {

/// Prints nothing; a failure is a test's.
class SilentListener final : public rc::detail::TestListener {
 public:
  void onTestCaseFinished(const rc::detail::CaseDescription&) override {}
  void onShrinkTried(const rc::detail::CaseDescription&, bool) override {}
  void onTestFinished(const rc::detail::TestMetadata&, const rc::detail::TestResult&) override {}
};

/// `play` says of a script what is wrong, and nothing when it went well. `count` scripts, the same
/// ones in every run.
template <class Script, class Play>
void expect_no_complaint(const rc::Gen<Script>& scripts, int count, const Play& play) {
  rc::detail::TestParams params;
  params.maxSuccess = count;
  SilentListener silent;
  const auto result = rc::detail::checkTestable(
      [&] {
        const Script script = *scripts;
        const std::string complaint = play(script);
        if (!complaint.empty()) RC_FAIL(complaint);
      },
      rc::detail::TestMetadata(), params, silent);
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  EXPECT_TRUE(result.template is<rc::detail::SuccessResult>()) << text.str();
}

/// What a kernel answers.
[[nodiscard]] inline rc::Gen<std::vector<std::uint8_t>> answers() {
  return rc::gen::container<std::vector<std::uint8_t>>(rc::gen::arbitrary<std::uint8_t>());
}

template <class Each>
void write_list(std::ostream& out, std::string_view title, const std::vector<Each>& list) {
  out << "\n" << title << ":";
  for (const Each& each : list) out << " " << +each;
}

}  // namespace fermata::properties
