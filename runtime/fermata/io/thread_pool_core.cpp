// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/thread_pool_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/base/exception_ptr_cast.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/sync/await.hpp"

namespace fermata::detail {

namespace {

using Fate = ThreadPoolLedger::Fate;

constexpr std::size_t kQueuedForEachWorker = 4;

std::exception_ptr no_workers() {
  return std::make_exception_ptr(ThreadPoolError("ThreadPool has no live worker threads"));
}

}  // namespace

ThreadPoolCore::ThreadPoolCore(ThreadPoolOptions&& options) : options_(std::move(options)) {
  FERMATA_REQUIRE(options_.concurrency > 0,
                  "ThreadPool: expected a concurrency of at least 1, got 0");
  if (options_.workers == 0) options_.workers = current_runtime().reactor().threads().processors();
  if (options_.queue == 0) options_.queue = options_.workers * kQueuedForEachWorker;
}

void ThreadPoolCore::start() { newest_ = start_generation(); }

// --- threads ---

std::shared_ptr<ThreadPoolCore::Generation> ThreadPoolCore::start_generation() {
  const auto generation = std::make_shared<Generation>(options_.queue);
  generation->drained.ignore();
  generations_.push_back(generation);
  try {
    for (std::size_t i = 1; i <= options_.workers; ++i) start_worker(generation, i);
  } catch (const InputOutputError& error) {
    if (generation->live == 0) {
      generations_.pop_back();
      throw ThreadPoolError(fmt::format("ThreadPool has started no thread: {}", error.what()));
    }
    current_runtime().log(fmt::format("thread pool '{}' has {} threads instead of {}: {}",
                                      options_.name, generation->live, options_.workers,
                                      error.what()));
  }
  return generation;
}

void ThreadPoolCore::start_worker(const std::shared_ptr<Generation>& generation,
                                  std::size_t number) {
  ThreadPoolWorker worker(ledger_, generation->queue, options_.mode, options_.concurrency);
  const auto thread =
      spawn_thread(std::move(worker), {.name = fmt::format("{} {}", options_.name, number),
                                       .on_thread_start = options_.on_thread_start});
  ++generation->live;
  ++live_;
  generation->threads.push_back(thread);
  thread.finally(
      [self = shared_from_this(), generation, thread] { self->worker_gone(*generation, thread); });
}

// A worker ends well when its queue is closed and empty, or with the run. All else is the end of
// the pool: the next thread would fare no better.
void ThreadPoolCore::worker_gone(Generation& generation, const Thread<void>& thread) {
  FERMATA_ASSERT(live_ > 0 && generation.live > 0);
  --live_;
  const std::exception_ptr& error = thread.error();
  thread.event().mark_exception_caught();
  if (error && !is_cancellation(error)) {
    current_runtime().log(
        fmt::format("a thread of pool '{}' has failed: {}", options_.name, describe(error)));
    const auto* const remote = exception_ptr_cast<RemoteError>(error);
    fail(remote != nullptr ? remote->original() : error);
  }
  if (--generation.live > 0) return;
  if (&generation == newest_.get() && !closed_) fail(no_workers());
  generation.queue.close();
  reject_queued(generation, Fate::Rejected, error_ ? error_ : no_workers());
  std::erase_if(generations_, [&](const auto& each) { return each.get() == &generation; });
  generation.drained.complete();
}

void ThreadPoolCore::fail(const std::exception_ptr& error) {
  if (!error_) error_ = error;
  close();
  for (const auto& generation : generations_) {
    reject_queued(*generation, Fate::Rejected, error_);
  }
}

// Those that a worker has been promised are its own to run or refuse.
void ThreadPoolCore::reject_queued(Generation& generation, Fate fate,
                                   const std::exception_ptr& error) {
  try {
    while (std::optional<Task> task = generation.queue.try_recv()) {
      ledger_->dropped(fate);
      (*task)->fail(error);
      (*task)->settle();
    }
  } catch (const ThreadChannelError&) {
  }
}

// --- tasks ---

void ThreadPoolCore::require_open() const {
  if (error_) std::rethrow_exception(error_);
  if (closed_) throw ThreadPoolError("ThreadPool is closed");
}

// One at a time waits at the queue, the others in line behind it: a reload changes nothing in their
// order.
void ThreadPoolCore::submit(Task task, const SourcePlace& place) {
  const auto keep = shared_from_this();
  require_open();
  ledger_->submitted();
  task->queued_at(ledger_);
  try {
    const Mutex::Guard turn(submitting_, {}, place);
    while (true) {
      require_open();
      const auto generation = newest_;
      try {
        return generation->queue.send(std::move(task), {}, place);
      } catch (const ThreadChannelError&) {
        if (generation == newest_) close();
      }
    }
  } catch (...) {
    ledger_->withdrawn();
    throw;
  }
}

// --- ends ---

void ThreadPoolCore::close() noexcept {
  closed_ = true;
  for (const auto& generation : generations_) generation->queue.close();
}

void ThreadPoolCore::cancel() {
  close();
  ledger_->cancel();
  for (const auto& generation : generations_) {
    reject_queued(*generation, Fate::Cancelled, not_begun());
  }
}

void ThreadPoolCore::await_drained(const std::shared_ptr<Generation>& generation,
                                   const SourcePlace& place) {
  for (std::size_t i = 0; i < generation->threads.size(); ++i) {
    const Thread<void> thread = generation->threads[i];
    try {
      await(thread, {}, place);
    } catch (const RemoteError&) {  // Known to the pool.
    } catch (const ThreadTransferError&) {
    } catch (const Cancellation&) {
      if (!thread.is_completed()) throw;
    }
  }
  await(generation->drained.future(), {}, place);
}

void ThreadPoolCore::join(const SourcePlace& place) {
  const auto keep = shared_from_this();
  while (!generations_.empty()) await_drained(std::shared_ptr(generations_.front()), place);
}

void ThreadPoolCore::reload(const SourcePlace& place) {
  const auto keep = shared_from_this();
  if (closed_) return;
  const std::uint64_t wanted = ++reloads_asked_;
  const Mutex::Guard turn(reloading_, {}, place);
  if (closed_ || reloads_served_ >= wanted) return;
  const std::uint64_t serves = reloads_asked_;
  newest_ = start_generation();
  FERMATA_ASSERT(!generations_.empty());
  const std::vector<std::shared_ptr<Generation>> older(generations_.begin(),
                                                       generations_.end() - 1);
  for (const auto& generation : older) generation->queue.close();
  for (const auto& generation : older) await_drained(generation, place);
  reloads_served_ = serves;
}

}  // namespace fermata::detail
