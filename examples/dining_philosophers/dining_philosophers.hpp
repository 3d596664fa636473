// SPDX-License-Identifier: Apache-2.0
#pragma once

// Philosophers around a table with a fork between any two; each needs both of its forks to eat.

#include <algorithm>
#include <fermata/runtime.hpp>
#include <memory>
#include <string>
#include <vector>

class Table {
 public:
  explicit Table(std::size_t seats) {
    for (std::size_t i = 0; i < seats; ++i) {
      forks_.push_back(std::make_unique<fermata::Mutex>("fork " + std::to_string(i)));
    }
  }

  /// The philosopher on `seat` eats `meals` times.
  void dine(std::size_t seat, int meals) {
    const std::size_t left = seat;
    const std::size_t right = (seat + 1) % forks_.size();
    // Everybody takes the fork with the lower number first. If everybody took the left one first,
    // each could come to hold one fork and wait forever for the other.
    fermata::Mutex& first = *forks_[std::min(left, right)];
    fermata::Mutex& second = *forks_[std::max(left, right)];
    for (int meal = 0; meal < meals; ++meal) {
      const fermata::Mutex::Guard one(first);
      fermata::suspend();  // Reaching across the table takes time.
      const fermata::Mutex::Guard other(second);
      ++meals_eaten_;
    }
  }

  [[nodiscard]] int meals_eaten() const { return meals_eaten_; }

 private:
  std::vector<std::unique_ptr<fermata::Mutex>> forks_;
  int meals_eaten_ = 0;
};
