// SPDX-License-Identifier: Apache-2.0

// Destructors that wait, on every reactor: the way out of a coroutine that is cancelled meanwhile.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fermata/runtime/base/error.hpp"
#include "fermata/runtime/core/spawn.hpp"
#include "fermata/runtime/core/suspend.hpp"
#include "fermata/runtime/sync/await.hpp"
#include "tests/conformance/arms.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;

template <class Arm>
class DestructorsConformance : public ::testing::Test {};
TYPED_TEST_SUITE(DestructorsConformance, PollableArms);

/// As the guide writes it.
struct Waits {
  explicit Waits(std::vector<std::string>& told) : steps(told) {}
  Waits(const Waits&) = delete;
  Waits& operator=(const Waits&) = delete;
  ~Waits() {
    protect_in_destructor([this] {
      delay(2ms);
      steps.emplace_back("waited");
    });
  }
  std::vector<std::string>& steps;
};

TYPED_TEST(DestructorsConformance, OneThatIsCancelledMeanwhileWaitsAllTheSame) {
  std::vector<std::string> steps;
  TypeParam::run([&] {
    const auto leaving = spawn("leaving", [&] {
      { const Waits guard(steps); }
      steps.emplace_back("goes on");
      suspend();
      steps.emplace_back("never");
    });
    suspend();
    leaving.cancel();
    EXPECT_THROW(await(leaving), Cancellation);
  });
  EXPECT_EQ(steps, (std::vector<std::string>{"waited", "goes on"}));
}

TYPED_TEST(DestructorsConformance, OneThatAnExceptionCallsWaitsInTheSameWay) {
  std::vector<std::string> steps;
  TypeParam::run([&] {
    const auto failing = spawn("failing", [&] {
      const Waits guard(steps);
      throw Error("failed");
    });
    suspend();
    failing.cancel();
    EXPECT_THROW(await(failing), Error);
  });
  EXPECT_EQ(steps, std::vector<std::string>{"waited"});
}

TYPED_TEST(DestructorsConformance, AShutdownLetsThemEnd) {
  std::vector<std::string> steps;
  TypeParam::run([&] {
    const auto leaving = spawn("leaving", [&] { const Waits guard(steps); });
    suspend();
    shutdown();
  });
  EXPECT_EQ(steps, std::vector<std::string>{"waited"});
}

}  // namespace
}  // namespace fermata::conformance
