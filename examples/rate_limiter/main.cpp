// SPDX-License-Identifier: Apache-2.0

// Five callers share a limiter of one call in 10 ms.

#include <chrono>
#include <cstdio>
#include <fermata/uv/reactor.hpp>
#include <vector>

#include "examples/rate_limiter/rate_limiter.hpp"

using namespace std::chrono_literals;

int main() {
  fermata::Runtime runtime(fermata::uv::make_reactor());
  return runtime.run([] {
    RateLimiter limiter(10ms);
    std::vector<fermata::Coroutine<>> callers;
    const fermata::Instant begin = fermata::now();
    for (int i = 0; i < 5; ++i) {
      callers.push_back(fermata::spawn("caller", [&limiter] { limiter.pass(); }));
    }
    for (const auto& caller : callers) fermata::await(caller);
    const bool in_time = fermata::now() - begin >= 40ms;
    std::printf("5 calls took %s\n", in_time ? "40 ms or more" : "less than 40 ms");
  });
}
