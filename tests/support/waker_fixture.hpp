// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the tests of the waker share.

#include <gtest/gtest.h>

#include "fermata/core/suspend.hpp"
#include "fermata/core/waker.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {

class WakerFixture : public RuntimeFixture {
 protected:
  /// Waits for what is registered, as a primitive does; returns the result.
  void* suspend_registered() {
    backend::Waker& waker = my_waker();
    runtime.scheduler().suspend(SourcePlace::current());
    void* result = waker.result;
    waker.clear();
    return result;
  }
  [[nodiscard]] static backend::Waker& my_waker() { return current_coroutine().waker(); }
  static void expect_clear(const backend::Waker& waker) {
    EXPECT_EQ(waker.status, backend::WakerStatus::None);
    EXPECT_EQ(waker.result, nullptr);
    EXPECT_EQ(waker.error, nullptr);
    EXPECT_TRUE(waker.empty());
  }

  int answer = 42;
};

}  // namespace fermata::test
