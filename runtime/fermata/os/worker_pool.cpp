// SPDX-License-Identifier: Apache-2.0
#include "fermata/os/worker_pool.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "fermata/os/fork_guard.hpp"
#include "fermata/os/no_signals.hpp"

namespace fermata::os {

/// Never destroyed: threads may be at work at the end.
struct WorkerPool::OfProcess {
  const unsigned forks = os::forks();
  WorkerPool pool;

  static inline std::atomic<OfProcess*> current = nullptr;
};

WorkerPool& WorkerPool::of_process() {
  OfProcess* found = OfProcess::current.load();
  while (found == nullptr || found->forks != forks()) {
    auto fresh = std::make_unique<OfProcess>();
    if (OfProcess::current.compare_exchange_strong(found, fresh.get())) found = fresh.release();
  }
  return found->pool;
}

void WorkerPool::submit(Work& work) {
  const std::lock_guard lock(mutex_);
  if (idle_ <= queue_.size() && threads_ < kThreads) {
    const NoSignals guard;
    std::thread([this] { this->work(); }).detach();
    ++threads_;
  }
  queue_.push_back(&work);
  submitted_.notify_one();
}

bool WorkerPool::withdraw(Work& work) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(queue_.begin(), queue_.end(), &work);
  if (found == queue_.end()) return false;
  queue_.erase(found);
  return true;
}

void WorkerPool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    submitted_.wait(lock, [this] { return !queue_.empty(); });
    --idle_;
    Work& next = *queue_.front();
    queue_.pop_front();
    lock.unlock();
    next.run();
    lock.lock();
  }
}

}  // namespace fermata::os
