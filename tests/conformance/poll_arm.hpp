// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <exception>
#include <string>

#include "fermata/base/function_ref.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/poll/backends.hpp"
#include "fermata/poll/reactor.hpp"

namespace fermata::conformance {

/// Every poll reactor of this build, one after the other, in this process.
struct PollArm {
  static constexpr bool kReal = true;

  /// Runs `body` as the main coroutine on each of them; throws what ended one.
  static void run(detail::FunctionRef<void()> body) {
    on_each([&](Runtime& runtime) { EXPECT_EQ(runtime.run(body), 0); });
  }

  /// Runs `body` on each of them and says what ended the last run; empty when nothing did.
  static std::string error_of(detail::FunctionRef<void()> body) {
    std::string text;
    on_each([&](Runtime& runtime) {
      text.clear();
      try {
        runtime.run(body);
      } catch (const std::exception& error) {
        text = error.what();
      }
    });
    return text;
  }

  /// The program that runs gets `signum`.
  static void raise(int signum) { std::raise(signum); }

 private:
  template <class Use>
  static void on_each(Use use) {
    for (const poll::BackendKind kind : poll::available_backends()) {
      SCOPED_TRACE(poll::to_string(kind));
      Runtime runtime(poll::make_reactor(poll::make_backend(kind)), {.handle_stop_signals = false});
      use(runtime);
    }
  }
};

}  // namespace fermata::conformance
