// SPDX-License-Identifier: Apache-2.0

// Producers and consumers wait for the same condition, and each change wakes one of them: it may be
// one that the change is of no use to, and who could use it sleeps on. (the cousin of Z-AP-07)

#include <deque>

#include "properties/zoo/applications/application.hpp"

namespace fermata::properties::zoo {

namespace {

class Buffer {
 public:
  explicit Buffer(Variant variant) : variant_(variant) {}

  void put(int item) {
    const Mutex::Guard guard(mutex_);
    changed_.wait(mutex_, [&] { return items_.empty(); });
    items_.push_back(item);
    notify();
  }

  int get() {
    const Mutex::Guard guard(mutex_);
    changed_.wait(mutex_, [&] { return !items_.empty(); });
    const int item = items_.front();
    items_.pop_front();
    notify();
    return item;
  }

 private:
  void notify() {
    if (variant_ == Variant::Buggy) {
      changed_.notify_one();
    } else {
      changed_.notify_all();
    }
  }

  Variant variant_;
  Mutex mutex_{"buffer"};
  Condition changed_{"changed"};
  std::deque<int> items_;  // At most one.
};

}  // namespace

FERMATA_APPLICATION(WrongRole) {
  Buffer buffer(variant);
  const auto producer = spawn("producer", [&] {
    buffer.put(1);
    buffer.put(2);
  });
  const auto first = spawn("first consumer", [&] { buffer.get(); });
  const auto second = spawn("second consumer", [&] { buffer.get(); });
  spawn_bystanders(3);
  await(producer);
  await(first);
  await(second);
}

}  // namespace fermata::properties::zoo
