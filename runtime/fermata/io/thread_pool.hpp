// SPDX-License-Identifier: Apache-2.0
#pragma once

// Threads that run tasks.
//
//   fermata::ThreadPool pool({.workers = 4});
//   auto hash = pool.submit([text = std::move(text)] { return sha256(text); });
//   use(await(hash));
//
// Tasks         Move to a thread of the pool, with all that they have captured, and are destroyed
//               there; results come back by a move. What neither may refer to:
//               fermata/io/thread.hpp. Their errors come as they are. Each has a scope of its own:
//               coroutines that it leaves running are cancelled at its end, and waited for.
// Backpressure  submit suspends while the queue is full; who waits longest is next (TP-01).
// Cancelling    A future that is cancelled, or dropped after it was looked at, takes its task back:
//               one that has not begun never does (TP-04), in coroutine mode one that runs is
//               cancelled, in sync mode its result is dropped. Nobody's future lets its task run.
// Ends          Every future of an accepted task settles, once (TP-03, TP-06).
// Threads       The pool belongs to the runtime that made it, and must go before that run ends. Its
//               destructor closes it; the run waits for its threads.
// Source        TP-01 to TP-08.

#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/io/remote_promise.hpp"
#include "fermata/io/thread_pool_core.hpp"
#include "fermata/io/transferable.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/within.hpp"

namespace fermata {

namespace detail {

/// Runs an F and sends the T that it returns, or its error, to a future.
template <class F, class T>
class ThreadPoolTaskOf final : public ThreadPoolTask {
 public:
  template <class Function>
  ThreadPoolTaskOf(Function&& function, RemotePromise<T> promise)
      : function_(std::in_place, std::forward<Function>(function)), promise_(std::move(promise)) {}

  bool bind_cancel(backend::TriggerHandle& trigger) override {
    return promise_.bind_cancel(trigger);
  }
  void unbind_cancel() override { promise_.unbind_cancel(); }
  void queued_at(std::shared_ptr<const backend::WaitSubject> queue) override {
    promise_.queued_at(std::move(queue));
  }

  void call() override {
    promise_.taken_up();
    if (promise_.is_cancellation_requested()) return fail(not_begun());
    try {
      if constexpr (std::is_void_v<T>) {
        (*function_)();
        result_.emplace();
      } else {
        result_.emplace((*function_)());
      }
    } catch (const ForcedUnwind&) {
      throw;
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  void fail(std::exception_ptr error) override {
    if (!error_) error_ = std::move(error);
  }
  [[nodiscard]] bool is_cancelled() const override { return is_cancellation(error_); }

  void settle() override {
    function_.reset();
    if (!result_) fail(not_begun());
    if (error_) {
      promise_.try_fail(error_);
    } else if constexpr (std::is_void_v<T>) {
      promise_.try_complete();
    } else {
      promise_.try_complete(std::move(*result_));
    }
  }

 private:
  std::optional<F> function_;
  std::optional<ValueOrNothing<T>> result_;
  std::exception_ptr error_;
  RemotePromise<T> promise_;
};

}  // namespace detail

class ThreadPool {
 public:
  /// Starts the threads. Throws ThreadPoolError when not one can be, UsageError on a concurrency of
  /// 0, and outside of a run.
  explicit ThreadPool(ThreadPoolOptions options = {})
      : core_(std::make_shared<detail::ThreadPoolCore>(std::move(options))) {
    core_->start();
  }
  ThreadPool(ThreadPool&& other) noexcept = default;
  ThreadPool& operator=(ThreadPool&& other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~ThreadPool() {
    if (core_) core_->close();
  }

  /// Suspends while the queue is full. Throws ThreadPoolError when the pool is closed, or has no
  /// thread left; what its on_thread_start threw; Cancellation, Timeout, OperationCancelled: then
  /// the task was not accepted.
  template <class F>
  auto submit(F&& task, const WaitOptions& options = {},
              SourcePlace place = SourcePlace::current()) {
    using Function = std::decay_t<F>;
    using Result = std::decay_t<std::invoke_result_t<Function&>>;
    static_assert(is_transferable<Function>, "the task belongs to this thread");
    static_assert(is_transferable<Result>, "the result would belong to the thread that made it");
    Promise<Result> promise(PromiseOptions{}, place);
    Future<Result> future = promise.future();
    auto boxed = std::make_unique<detail::ThreadPoolTaskOf<Function, Result>>(
        std::forward<F>(task), RemotePromise<Result>(promise));
    try {
      within(options, [&] { core_->submit(std::move(boxed), place); });
    } catch (...) {
      future.ignore();
      throw;
    }
    return future;
  }

  /// Submits `function(item)` for a copy of each item, waits for all of them, and returns what they
  /// returned, in the order of the items; when some fail, throws the error of the first of these
  /// (TP-07). Suspends. A caller that is cancelled, or whose `options` end the wait, takes back
  /// what is under way.
  template <class Items, class F>
  auto map(const Items& items, const F& function, const WaitOptions& options = {},
           SourcePlace place = SourcePlace::current()) {
    return within(options, [&] { return map_all(items, function, place); });
  }

  /// Takes no more tasks; those accepted run, and then the threads end. Returns at once.
  /// Idempotent.
  void close() { core_->close(); }
  /// Closes the pool and fails tasks that have not begun with a Cancellation; in coroutine mode,
  /// cancels running tasks too.
  void cancel() { core_->cancel(); }
  /// Suspends until the threads have ended: close the pool first, or while somebody waits.
  void join(const WaitOptions& options = {}, SourcePlace place = SourcePlace::current()) {
    within(options, [&] { core_->join(place); });
  }

  /// Starts new threads, which serve all later tasks, lets the old ones finish what they have been
  /// given, and suspends until they have ended: no thread is older than this call when it returns.
  /// Calls that overlap share one reload. Nothing happens in a closed pool. Throws ThreadPoolError,
  /// and all is as before, when no thread can be started; Timeout and OperationCancelled, and the
  /// new threads serve, while old ones are at work still.
  void reload(const WaitOptions& options = {}, SourcePlace place = SourcePlace::current()) {
    within(options, [&] { core_->reload(place); });
  }

  [[nodiscard]] bool is_closed() const noexcept { return core_->is_closed(); }
  /// Threads that have not ended.
  [[nodiscard]] std::size_t worker_count() const noexcept { return core_->workers(); }
  /// All of one moment.
  [[nodiscard]] ThreadPoolCounters counters() const { return core_->counters(); }

 private:
  template <class Items, class F>
  auto map_all(const Items& items, const F& function, const SourcePlace& place);

  std::shared_ptr<detail::ThreadPoolCore> core_;
};

template <class Items, class F>
auto ThreadPool::map_all(const Items& items, const F& function, const SourcePlace& place) {
  using Item = std::decay_t<decltype(*std::begin(items))>;
  using Result = std::decay_t<std::invoke_result_t<F&, Item&>>;
  std::vector<Future<Result>> futures;
  std::vector<detail::ValueOrNothing<Result>> results;
  std::exception_ptr refused;
  std::exception_ptr error;
  const auto give_up = [&] {
    for (const Future<Result>& future : futures) future.ignore().cancel();
    throw;
  };
  try {
    for (const auto& item : items) {
      futures.push_back(submit([function, item]() mutable { return function(item); }, {}, place));
    }
  } catch (const Cancellation&) {
    give_up();
  } catch (const std::exception&) {
    refused = std::current_exception();
  }
  for (const Future<Result>& future : futures) {
    try {
      await(future, {}, place);
      if constexpr (!std::is_void_v<Result>) results.push_back(future.take_result());
    } catch (...) {
      if (!future.is_completed()) give_up();
      if (!error) error = std::current_exception();
    }
  }
  if (!error) error = refused;
  if (error) std::rethrow_exception(error);
  if constexpr (!std::is_void_v<Result>) return results;
}

}  // namespace fermata
