// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>

namespace foreign_threads {

/// Has room for one value.
class BoundedQueue {
 public:
  void push(int value) {
    std::unique_lock lock(mutex_);
    taken_.wait(lock, [this] { return !value_; });
    value_ = value;
    given_.notify_one();
  }

  int pop() {
    std::unique_lock lock(mutex_);
    given_.wait(lock, [this] { return value_.has_value(); });
    const int value = *value_;
    value_.reset();
    taken_.notify_one();
    return value;
  }

 private:
  std::mutex mutex_;
  std::condition_variable given_;
  std::condition_variable taken_;
  std::optional<int> value_;
};

/// The planted bug: one condition variable for two conditions. Who is woken may wait for the other
/// one.
class QueueWithOneCondition {
 public:
  void push(int value) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !value_; });
    value_ = value;
    changed_.notify_one();
  }

  int pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return value_.has_value(); });
    const int value = *value_;
    value_.reset();
    changed_.notify_one();
    return value;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<int> value_;
};

}  // namespace foreign_threads
