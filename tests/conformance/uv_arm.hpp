// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <exception>
#include <functional>
#include <string>

#include "fermata/runtime/core/runtime.hpp"
#include "fermata/runtime/uv/reactor.hpp"

namespace fermata::conformance {

/// The reactor on libuv, in this process.
struct UvArm {
  static constexpr bool kReal = true;

  /// Runs `body` as the main coroutine; throws what ended it.
  static void run(const std::function<void()>& body) {
    Runtime runtime(uv::make_reactor(), {.handle_stop_signals = false});
    EXPECT_EQ(runtime.run(body), 0);
  }

  /// Runs `body` and says what ended the run; empty when nothing did.
  static std::string error_of(const std::function<void()>& body) {
    Runtime runtime(uv::make_reactor(), {.handle_stop_signals = false});
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
