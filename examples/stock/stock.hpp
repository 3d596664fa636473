// SPDX-License-Identifier: Apache-2.0
#pragma once

// Pieces in a store, promised to orders; whoever orders more than there are waits.

#include <fermata/runtime.hpp>

namespace example {

class Stock {
 public:
  explicit Stock(int pieces) : pieces_(pieces), left_(pieces) {}

  /// Pieces that are promised; they go back at its end.
  class Order {
   public:
    Order(Stock& stock, int pieces) : stock_(stock), pieces_(pieces) {}
    Order(const Order&) = delete;
    Order& operator=(const Order&) = delete;
    ~Order() { stock_.give_back(pieces_); }

   private:
    Stock& stock_;
    int pieces_;
  };

  /// Waits until there are so many. Throws Timeout and Cancellation: then nothing is promised.
  [[nodiscard]] Order take(int pieces, const fermata::WaitOptions& patience = {}) {
    const fermata::Mutex::Guard guard(mutex_);
    if (left_ < pieces) FERMATA_REACHABLE("an order has to wait");
    // Asked again after each wake: who was woken before may have taken what had come back.
    changed_.wait(
        mutex_, [&] { return left_ >= pieces; }, patience);
    left_ -= pieces;
    FERMATA_ALWAYS_GE(left_, 0, "no piece is promised twice", "pieces", pieces);
    FERMATA_SOMETIMES_EQ(left_, 0, "everything is promised");
    return Order(*this, pieces);
  }

  [[nodiscard]] bool is_whole() const { return left_ == pieces_; }

 private:
  void give_back(int pieces) {
    left_ += pieces;
    changed_.notify_all();
  }

  int pieces_;
  int left_;
  fermata::Mutex mutex_{"stock"};
  fermata::Condition changed_{"pieces came back"};
};

}  // namespace example
