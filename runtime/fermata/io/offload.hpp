// SPDX-License-Identifier: Apache-2.0
#pragma once

// Blocking work on other threads, without blocking the loop.

#include <optional>
#include <type_traits>
#include <utility>

#include "fermata/core/suspend.hpp"
#include "fermata/reactor/offload.hpp"
#include "fermata/sync/operation.hpp"

namespace fermata {

namespace detail {

template <class F, class T>
class TaskOf final : public backend::Task {
 public:
  TaskOf(backend::Offload& offload, F function)
      : backend::Task(offload), function_(std::move(function)) {}
  [[nodiscard]] T take() { return std::move(*result_); }

 private:
  void work() override { result_.emplace(function_()); }
  void* result_address() noexcept override { return &*result_; }

  F function_;
  std::optional<T> result_;
};

template <class F>
class TaskOf<F, void> final : public backend::Task {
 public:
  TaskOf(backend::Offload& offload, F function)
      : backend::Task(offload), function_(std::move(function)) {}
  void take() noexcept {}

 private:
  void work() override { function_(); }
  void* result_address() noexcept override { return nullptr; }

  F function_;
};

/// Takes back a task that its waiter gave up, when no worker has begun.
class CancelOnExit {
 public:
  explicit CancelOnExit(backend::Task& task) noexcept : task_(task) {}
  CancelOnExit(const CancelOnExit&) = delete;
  CancelOnExit& operator=(const CancelOnExit&) = delete;
  ~CancelOnExit() { task_.cancel(); }

 private:
  backend::Task& task_;
};

}  // namespace detail

/// Runs `function` on a worker's thread and returns what it returns, or throws what it throws. It
/// must not use anything of this runtime. Cancelling the wait does not stop work that has begun:
/// it runs on, with everything it has captured, and its result is dropped.
template <class F>
auto offload(F&& function, const WaitOptions& options = {},
             SourcePlace place = SourcePlace::current()) {
  using Function = std::decay_t<F>;
  using Result = std::invoke_result_t<Function&>;
  using TaskType = detail::TaskOf<Function, Result>;
  detail::check_token(options);
  const auto task = Ref<TaskType>::adopt(
      *new TaskType(current_runtime().reactor().offload(), std::forward<F>(function)));
  const detail::CancelOnExit cancel_on_exit(*task);
  wait(*task, options, place);
  return task->take();
}

}  // namespace fermata
