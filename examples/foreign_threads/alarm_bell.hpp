// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>

namespace foreign_threads {

enum class Look {
  kWhileItWaits,
  kBefore,  // The planted bug: it may ring between the look and the wait.
};

class AlarmBell {
 public:
  explicit AlarmBell(Look look) : look_(look) {}

  void ring() {
    {
      const std::lock_guard lock(mutex_);
      rings_ = true;
    }
    rung_.notify_one();
  }

  /// Until it rings.
  void wait() {
    if (look_ == Look::kBefore && has_rung()) return;
    std::unique_lock lock(mutex_);
    if (look_ == Look::kBefore) {
      rung_.wait(lock);
    } else {
      rung_.wait(lock, [this] { return rings_; });
    }
  }

 private:
  bool has_rung() {
    const std::lock_guard lock(mutex_);
    return rings_;
  }

  std::mutex mutex_;
  std::condition_variable rung_;
  bool rings_ = false;
  Look look_;
};

}  // namespace foreign_threads
