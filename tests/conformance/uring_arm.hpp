// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "fermata/uring/reactor.hpp"
#include "tests/conformance/real_arm.hpp"

namespace fermata::conformance {

struct OnUring {
  static std::unique_ptr<backend::Reactor> reactor() { return uring::make_reactor(); }
};
/// Where the system refuses it, the arm's tests are skipped, with the cause.
using UringArm = RealArm<OnUring>;

/// Skips tests that need an io_uring, by their type parameter or the name of their suite, before
/// they begin.
class SkipsWhatIsRefused final : public ::testing::EmptyTestEventListener {
 public:
  void OnTestStart(const ::testing::TestInfo& test) override {
    if (!refusal_.empty() && needs_ring(test)) GTEST_SKIP() << refusal_;
  }

 private:
  static bool needs_ring(const ::testing::TestInfo& test) {
    const char* const parameter = test.type_param();
    const std::string_view name = parameter != nullptr ? parameter : test.test_suite_name();
    return name.find("Uring") != std::string_view::npos;
  }

  const std::string refusal_ = uring::refusal();
};

inline const bool kSkipsWhatIsRefused = [] {
  ::testing::UnitTest::GetInstance()->listeners().Append(new SkipsWhatIsRefused);
  return true;
}();

}  // namespace fermata::conformance
