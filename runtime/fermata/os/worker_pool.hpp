// SPDX-License-Identifier: Apache-2.0
#pragma once

// Threads for work that blocks.

#include <cstddef>
#include <list>

#include "fermata/system/mutex.hpp"

namespace fermata::os {

/// One piece of work; whoever submits it keeps it until it has ended.
class Work {
 public:
  Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  virtual ~Work() = default;

  /// On a thread of the pool, which does not touch it any more when this has returned.
  virtual void run() noexcept = 0;
};

/// All reactors of a process share it. Its threads begin as they are needed, take no signals, and
/// last as long as the process. A forked child, which has none of them, has a pool of its own.
class WorkerPool {
 public:
  static constexpr std::size_t kThreads = 4;

  [[nodiscard]] static WorkerPool& of_process();

  /// Queues `work`; work is started in order of arrival. Throws std::system_error when a thread
  /// cannot be created.
  void submit(Work& work);
  /// Whether no thread has begun with it; then none will.
  bool withdraw(Work& work) noexcept;

 private:
  struct OfProcess;

  WorkerPool() = default;

  [[noreturn]] void work();

  os::Mutex mutex_;
  os::Condition submitted_;
  std::list<Work*> queue_;
  std::size_t threads_ = 0;
  std::size_t idle_ = 0;
};

}  // namespace fermata::os
