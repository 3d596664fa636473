// SPDX-License-Identifier: Apache-2.0
#pragma once

// A pool of threads, but for the types of its tasks. All on the runtime that made it; its threads
// share the ledger and the queue with it.
//
// Generations  Threads that were started together and serve one queue. A reload starts the next
//              one, then closes the queue of the one before, which drains it.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fermata/io/thread.hpp"
#include "fermata/io/thread_pool_worker.hpp"
#include "fermata/sync/future.hpp"
#include "fermata/sync/mutex.hpp"

namespace fermata {

struct ThreadPoolOptions {
  std::string name = "pool";
  /// Number of threads; 0: as many as the machine has processors.
  std::size_t workers = 0;
  /// Tasks that wait for a thread before submit does; 0: four for each thread.
  std::size_t queue = 0;
  /// Runs first on each thread. When it throws, the pool closes, and what it has not begun fails
  /// with that error.
  std::function<void()> on_thread_start;
  ThreadPoolMode mode = ThreadPoolMode::Sync;
  /// Tasks at once on each thread, in coroutine mode. At least 1.
  std::size_t concurrency = 16;
};

namespace detail {

class ThreadPoolCore : public std::enable_shared_from_this<ThreadPoolCore> {
 public:
  using Task = std::unique_ptr<ThreadPoolTask>;

  explicit ThreadPoolCore(ThreadPoolOptions&& options);
  ThreadPoolCore(const ThreadPoolCore&) = delete;
  ThreadPoolCore& operator=(const ThreadPoolCore&) = delete;

  /// Starts the first generation. To be called once, first.
  void start();

  /// Suspends while the queue is full. When it throws, the task was not accepted.
  void submit(Task task, const SourcePlace& place);
  void close() noexcept;
  void cancel();
  /// Both suspend.
  void join(const SourcePlace& place);
  void reload(const SourcePlace& place);

  [[nodiscard]] bool is_closed() const noexcept { return closed_; }
  [[nodiscard]] std::size_t workers() const noexcept { return live_; }
  [[nodiscard]] ThreadPoolCounters counters() const { return ledger_->counters(); }

 private:
  struct Generation {
    explicit Generation(std::size_t capacity) : queue(capacity) {}
    ThreadPoolWorker::Queue queue;
    std::vector<Thread<void>> threads;
    std::size_t live = 0;
    Promise<> drained;
  };

  std::shared_ptr<Generation> start_generation();
  void start_worker(const std::shared_ptr<Generation>& generation, std::size_t number);
  void worker_gone(Generation& generation, const Thread<void>& thread);
  void fail(const std::exception_ptr& error);
  void reject_queued(Generation& generation, ThreadPoolLedger::Fate fate,
                     const std::exception_ptr& error);
  void require_open() const;
  static void await_drained(const std::shared_ptr<Generation>& generation,
                            const SourcePlace& place);

  ThreadPoolOptions options_;
  std::shared_ptr<ThreadPoolLedger> ledger_ = std::make_shared<ThreadPoolLedger>();
  std::vector<std::shared_ptr<Generation>> generations_;  // With live threads; the newest last.
  std::shared_ptr<Generation> newest_;
  std::size_t live_ = 0;
  bool closed_ = false;
  std::exception_ptr error_;  // Why it no longer runs anything.
  Mutex submitting_{"ThreadPool submit"};
  Mutex reloading_{"ThreadPool reload"};
  std::uint64_t reloads_asked_ = 0;
  std::uint64_t reloads_served_ = 0;
};

}  // namespace detail
}  // namespace fermata
