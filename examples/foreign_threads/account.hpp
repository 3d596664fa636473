// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

namespace foreign_threads {

enum class Locking {
  kOnce,
  kTwice,  // The planted bug: what was read may have changed when it is written.
};

enum class Order {
  kNone,     // std::scoped_lock takes both or none
  kAsGiven,  // The planted bug: two transfers take the two locks in two orders.
};

class Account {
 public:
  explicit Account(Locking locking) : locking_(locking) {}

  void deposit(int amount) {
    if (locking_ == Locking::kOnce) {
      const std::lock_guard lock(mutex_);
      balance_ += amount;
    } else {
      set_balance(balance() + amount);
    }
  }

  int balance() {
    const std::lock_guard lock(mutex_);
    return balance_;
  }

 private:
  friend void transfer(Account& from, Account& to, int amount, Order order);

  void set_balance(int balance) {
    const std::lock_guard lock(mutex_);
    balance_ = balance;
  }

  std::mutex mutex_;
  int balance_ = 0;
  Locking locking_;
};

inline void transfer(Account& from, Account& to, int amount, Order order) {
  const auto move = [&] {
    from.balance_ -= amount;
    to.balance_ += amount;
  };
  if (order == Order::kNone) {
    const std::scoped_lock both(from.mutex_, to.mutex_);
    move();
  } else {
    const std::lock_guard first(from.mutex_);
    const std::lock_guard second(to.mutex_);
    move();
  }
}

}  // namespace foreign_threads
