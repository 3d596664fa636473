// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a thread of a pool does: takes tasks and runs them until its queue is closed and empty.

#include <cstddef>
#include <memory>

#include "fermata/io/thread_channel.hpp"
#include "fermata/io/thread_pool_ledger.hpp"

namespace fermata {

enum class ThreadPoolMode : std::uint8_t {
  /// One task at a time on each thread; one that runs is never cancelled.
  Sync,
  /// Several on each, which let each other go on where they wait; those that run can be cancelled.
  Coroutine,
};

namespace detail {

class ThreadPoolWorker {
 public:
  using Queue = ThreadChannel<std::unique_ptr<ThreadPoolTask>>;

  ThreadPoolWorker(std::shared_ptr<ThreadPoolLedger> ledger, Queue queue, ThreadPoolMode mode,
                   std::size_t concurrency)
      : ledger_(std::move(ledger)),
        queue_(std::move(queue)),
        mode_(mode),
        concurrency_(mode == ThreadPoolMode::Sync ? 1 : concurrency) {}

  /// In the main coroutine of the thread.
  void operator()() const;

 private:
  void serve() const;
  void run(ThreadPoolTask& task) const;

  std::shared_ptr<ThreadPoolLedger> ledger_;
  Queue queue_;
  ThreadPoolMode mode_;
  std::size_t concurrency_;
};

}  // namespace detail
}  // namespace fermata
