// SPDX-License-Identifier: Apache-2.0
#pragma once

// A thread with a runtime of its own.
//
// What crosses  The task moves to the new thread, with all that it has captured, and is destroyed
//               there. Its result comes back by a move. Neither may refer to what belongs to a
//               runtime (coroutines, futures, sockets); what both sides use at once must be made
//               for that: ThreadChannel, RemotePromise, or a lock of the program's own.
// Errors        RemoteError, with the original inside; a Cancellation when the thread was
//               cancelled; ThreadTransferError when it called exit.
// End           A run that ends well waits for its threads, whoever waits for them or not; one that
//               is shut down shuts them down too (THR-07).

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "fermata/core/runtime.hpp"
#include "fermata/io/transferable.hpp"
#include "fermata/reactor/threads.hpp"

namespace fermata {

struct SpawnThreadOptions {
  std::string name = "thread";
  /// Runs first, in the thread's main coroutine. When it throws, that is the thread's error.
  std::function<void()> on_thread_start;
};

namespace detail {

/// Runs an F on its thread and keeps the T that it returns.
template <class F, class T>
class ThreadWorkOf final : public ThreadWork {
 public:
  template <class Task>
  ThreadWorkOf(std::function<void()>&& on_thread_start, Task&& task)
      : on_thread_start_(std::move(on_thread_start)),
        task_(std::in_place, std::forward<Task>(task)) {}

  void call() override {
    if (on_thread_start_) on_thread_start_();
    if constexpr (std::is_void_v<T>) {
      (*task_)();
    } else {
      result_.emplace((*task_)());
    }
  }
  void drop() noexcept override {
    task_.reset();
    on_thread_start_ = nullptr;
  }
  [[nodiscard]] void* result_address() noexcept override {
    if constexpr (!std::is_void_v<T>) {
      if (result_) return &*result_;
    }
    return nullptr;
  }

 private:
  std::function<void()> on_thread_start_;
  std::optional<F> task_;
  std::optional<ValueOrNothing<T>> result_;
};

}  // namespace detail

/// A handle to a thread. Copies refer to the same one; the thread runs on without any.
template <class T = void>
class Thread {
 public:
  Thread() noexcept = default;
  explicit Thread(Ref<backend::ThreadEvent> thread) noexcept : thread_(std::move(thread)) {}
  explicit operator bool() const noexcept { return static_cast<bool>(thread_); }

  [[nodiscard]] const std::string& name() const { return checked().name(); }
  [[nodiscard]] backend::ThreadStage stage() const { return checked().stage(); }
  /// From its start to its end, awaited or not.
  [[nodiscard]] bool is_running() const { return !checked().is_closed(); }
  [[nodiscard]] bool is_completed() const { return checked().is_closed(); }
  [[nodiscard]] bool is_cancelled() const { return is_cancellation(checked().error()); }
  /// How it failed, once it is completed; null before, and when it succeeded.
  [[nodiscard]] const std::exception_ptr& error() const { return checked().error(); }

  /// Asks the thread's main coroutine to stop; one that has not begun never does. Never waits, no
  /// effect on one that has ended.
  void cancel() const { checked().cancel(); }

  /// `handler` runs when the thread has ended, whatever the end, in a coroutine of this runtime; at
  /// once, and then it must not suspend, when it has ended already.
  void finally(std::function<void()> handler) const { checked().finally(std::move(handler)); }

  // --- Awaitable ---

  [[nodiscard]] backend::ThreadEvent& event() const { return checked(); }
  decltype(auto) result() const {
    if constexpr (!std::is_void_v<T>) return std::as_const(value());
  }
  /// Moves it out: then nobody else can have it.
  T take_result() const {
    if constexpr (!std::is_void_v<T>) return std::move(value());
  }

 private:
  [[nodiscard]] backend::ThreadEvent& checked() const {
    FERMATA_REQUIRE(thread_.get() != nullptr, "the thread handle refers to nothing");
    return *thread_;
  }
  [[nodiscard]] detail::ValueOrNothing<T>& value() const {
    const Outcome* const outcome = checked().replay();
    FERMATA_REQUIRE(outcome != nullptr && outcome->result != nullptr, "the thread has no result");
    return *static_cast<detail::ValueOrNothing<T>*>(outcome->result);
  }

  Ref<backend::ThreadEvent> thread_;
};

/// Starts a thread that runs `task` in the main coroutine of a runtime of its own. It has ended
/// when no coroutine is left there. Throws InputOutputError when the system has no thread left,
/// Unsupported on a reactor without threads.
template <class Task>
auto spawn_thread(Task&& task, SpawnThreadOptions options = {}) {
  using Function = std::decay_t<Task>;
  using Result = std::decay_t<std::invoke_result_t<Function&>>;
  static_assert(is_transferable<Function>, "the task belongs to this thread");
  static_assert(is_transferable<Result>, "the result would belong to the thread that made it");
  auto work = std::make_unique<detail::ThreadWorkOf<Function, Result>>(
      std::move(options.on_thread_start), std::forward<Task>(task));
  return Thread<Result>(
      current_runtime().reactor().threads().start(std::move(options.name), std::move(work)));
}

}  // namespace fermata
