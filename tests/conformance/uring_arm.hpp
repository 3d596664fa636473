// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <exception>
#include <string>
#include <string_view>

#include "fermata/base/function_ref.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/uring/reactor.hpp"

namespace fermata::conformance {

/// The reactor on io_uring, in this process. Where the system refuses it, the arm's tests are
/// skipped, with the cause.
struct UringArm {
  static constexpr bool kReal = true;

  /// Runs `body` as the main coroutine; throws what ended it.
  static void run(detail::FunctionRef<void()> body) {
    Runtime runtime(uring::make_reactor(), {.handle_stop_signals = false});
    EXPECT_EQ(runtime.run(body), 0);
  }

  /// Runs `body` and says what ended the run; empty when nothing did.
  static std::string error_of(detail::FunctionRef<void()> body) {
    Runtime runtime(uring::make_reactor(), {.handle_stop_signals = false});
    try {
      runtime.run(body);
    } catch (const std::exception& error) {
      return error.what();
    }
    return {};
  }

  /// The program that runs gets `signum`.
  static void raise(int signum) { std::raise(signum); }
};

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
