// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sells the seats of one show over a payment service that is down now and then, and claims what it
// should: what always holds, what some run must come to, and what comes in the end.

#include <fermata/runtime.hpp>

#include <chrono>

namespace example {

class BoxOffice {
 public:
  explicit BoxOffice(int seats) : seats_(seats), left_(seats) {}

  /// Whether the customer has got a seat.
  bool buy() {
    using namespace std::chrono_literals;
    if (left_ == 0) {
      FERMATA_REACHABLE("a customer comes too late");
      return false;
    }
    --left_;  // Kept for this customer while he pays.
    for (int attempts = 1; !pay(); ++attempts) {
      FERMATA_SOMETIMES_GE(attempts, 2, "a payment fails twice");
      fermata::delay(10ms * attempts);
    }
    ++sold_;
    FERMATA_ALWAYS_LE(sold_, seats_, "no seat is sold twice", "left", left_);
    return true;
  }

  [[nodiscard]] bool sold_out() const { return sold_ == seats_; }

 private:
  static bool pay() {
    using namespace std::chrono_literals;
    fermata::delay(1ms);
    return !FERMATA_FAULT("payment");
  }

  int seats_;
  int left_;
  int sold_ = 0;
};

}  // namespace example
