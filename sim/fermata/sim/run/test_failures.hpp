// SPDX-License-Identifier: Apache-2.0
#pragma once

// EXPECT and ASSERT inside a run become failures of that run, instead of failures of the GoogleTest
// test that explores: exploring a thousand schedules reports one failure, not thousands.

#include <gtest/gtest-spi.h>

namespace fermata::sim {

class World;

namespace detail {

/// While it lives it takes the results of this thread's assertions.
class TestFailures final : private ::testing::TestPartResultArray,
                           public ::testing::ScopedFakeTestPartResultReporter {
 public:
  TestFailures() : ScopedFakeTestPartResultReporter(INTERCEPT_ONLY_CURRENT_THREAD, this) {}

  /// From now on failures are those of the run of `world`.
  void belong_to(World& world) noexcept { world_ = &world; }

  void ReportTestPartResult(const ::testing::TestPartResult& result) override;

 private:
  World* world_ = nullptr;
};

}  // namespace detail
}  // namespace fermata::sim
