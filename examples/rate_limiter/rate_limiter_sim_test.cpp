// SPDX-License-Identifier: Apache-2.0

// Callers that come at any time: the n-th passes when n turns have gone by, never before.

#include <fermata/sim.hpp>
#include <vector>

#include "examples/rate_limiter/rate_limiter.hpp"

namespace {

using namespace std::chrono_literals;

constexpr fermata::Duration kSpacing = 10ms;

SIM_TEST(RateLimiter, LetsOneCallerPassAtATime) {
  RateLimiter limiter(kSpacing);
  std::vector<fermata::Instant> passed;
  std::vector<fermata::Coroutine<>> callers;
  const fermata::Instant begin = fermata::now();
  for (int caller = 0; caller < 4; ++caller) {
    callers.push_back(fermata::spawn("caller", [&] {
      for (int i = 0; i < 3; ++i) {
        fermata::delay(std::chrono::milliseconds(fermata::random(8)));
        limiter.pass();
        passed.push_back(fermata::now());
      }
    }));
  }
  for (const auto& caller : callers) fermata::await(caller);
  for (std::size_t n = 0; n < passed.size(); ++n) {
    const fermata::Instant earliest = begin + kSpacing * static_cast<std::int64_t>(n);
    EXPECT_GE(passed[n], earliest) << "caller number " << n;
  }
}

}  // namespace
