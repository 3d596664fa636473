// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <exception>
#include <string>

#include "fermata/base/function_ref.hpp"
#include "fermata/core/runtime.hpp"

namespace fermata::conformance {

/// A reactor of this system, in this process, as `Make` makes it.
template <class Make>
struct RealArm {
  static constexpr bool kReal = true;

  /// Runs `body` as the main coroutine; throws what ended it.
  static void run(detail::FunctionRef<void()> body) {
    Runtime runtime(Make::reactor(), {.handle_stop_signals = false});
    EXPECT_EQ(runtime.run(body), 0);
  }

  /// Runs `body` and says what ended the run; empty when nothing did.
  static std::string error_of(detail::FunctionRef<void()> body) {
    Runtime runtime(Make::reactor(), {.handle_stop_signals = false});
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

}  // namespace fermata::conformance
