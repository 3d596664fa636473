// SPDX-License-Identifier: Apache-2.0
#pragma once

// At most so many calls in a span of time, evenly spaced, served in the order in which they came.

#include <algorithm>
#include <fermata/runtime.hpp>

class RateLimiter {
 public:
  /// The next call may pass `spacing` after the last one; not negative.
  explicit RateLimiter(fermata::Duration spacing) : spacing_(spacing) {}

  /// Returns when the caller may pass. A caller that is cancelled leaves its turn unused.
  void pass() {
    const fermata::Instant turn = std::max(next_, fermata::now());
    // The turn is taken before the wait. Done after it, all that wait meanwhile would have found
    // the same turn free, and would pass together.
    next_ = turn + spacing_;
    fermata::delay(std::max(turn - fermata::now(), fermata::Duration::zero()));
  }

 private:
  fermata::Duration spacing_;
  fermata::Instant next_;
};
