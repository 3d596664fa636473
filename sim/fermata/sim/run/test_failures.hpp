// SPDX-License-Identifier: Apache-2.0
#pragma once

// EXPECT and ASSERT inside a run become failures of that run, instead of failures of the GoogleTest
// test that explores: exploring a thousand schedules reports one failure, not thousands. GTEST_SKIP
// skips the run.

#include <memory>

namespace fermata::sim {

class World;

namespace detail {

/// While it lives it takes the results of this thread's assertions.
class TestFailures final {
 public:
  TestFailures();
  TestFailures(const TestFailures&) = delete;
  TestFailures& operator=(const TestFailures&) = delete;
  ~TestFailures();

  /// From now on failures are those of the run of `world`.
  void belong_to(World& world) noexcept;

 private:
  class Interceptor;
  std::unique_ptr<Interceptor> interceptor_;
};

}  // namespace detail
}  // namespace fermata::sim
