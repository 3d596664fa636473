// SPDX-License-Identifier: Apache-2.0
#pragma once

// A setting that is slow to read and to write, with a cache in front of it.

#include <chrono>
#include <fermata/runtime.hpp>
#include <optional>

class Setting {
 public:
  int read() {
    if (cache_) return *cache_;
    const fermata::Mutex::Guard guard(busy_);
    wait();
    cache_ = stored_;
    return stored_;
  }

  void write(int value) {
    // Emptied before the lock is ours, a reader under way would fill the cache with the old
    // value.
    const fermata::Mutex::Guard guard(busy_);
    cache_.reset();
    wait();
    stored_ = value;
  }

 private:
  static void wait() { fermata::delay(std::chrono::microseconds(100 + fermata::random(900))); }

  fermata::Mutex busy_{"setting"};
  int stored_ = 0;
  std::optional<int> cache_;
};
