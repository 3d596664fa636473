// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tasks whose results are taken: each goes to one consumer (TG-15).
//
// Order        First come, first served, for consumers of one kind. What was given to one that is
//              cancelled before it runs goes back to its place.
// Errors       A delivered one is handled.
// Source       TG-01 to 03, 08 to 12, 14 to 16, 18.

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "fermata/base/given_name.hpp"
#include "fermata/sync/keyed.hpp"
#include "fermata/sync/task_owner.hpp"

namespace fermata {

template <class T = void, class Key = std::uint64_t>
class TaskSet : public detail::TaskOwner<T, Key> {
  using Owner = detail::TaskOwner<T, Key>;
  using typename Owner::Task;

 public:
  using Value = detail::ValueOrNothing<T>;
  using Results = Keyed<Key, Value>;

  explicit TaskSet(const TaskGroupOptions& options = {},
                   const SourcePlace& place = SourcePlace::current())
      : TaskSet(Name(), options, place) {}
  explicit TaskSet(backend::GivenName name, const TaskGroupOptions& options = {},
                   const SourcePlace& place = SourcePlace::current())
      : Owner(std::move(name), options, place) {}

  /// Takes the next one that has settled: its value, or throws its error. Suspends. UsageError when
  /// there is none, and none runs. Throws Timeout, OperationCancelled, Cancellation.
  T join_next(const WaitOptions& options = {}, const SourcePlace& place = SourcePlace::current()) {
    const Taken taken = take(detail::Join::Next, options, place);
    FERMATA_REQUIRE(!taken.empty(), "join_next: the task set is empty: expected a task in it");
    return value_of(taken.front());
  }
  /// Takes the next one that has succeeded; failures stay. When all have failed it takes them all
  /// and throws a CompositeError.
  T join_any(const WaitOptions& options = {}, const SourcePlace& place = SourcePlace::current()) {
    const Taken taken = take(detail::Join::Any, options, place);
    FERMATA_REQUIRE(!taken.empty(), "join_any: the task set is empty: expected a task in it");
    if (taken.front()->error()) throw CompositeError(errors_in(taken));
    return value_of(taken.front());
  }
  /// Takes all remaining results, in order of spawn, when nothing runs and nothing is pending. With
  /// any error among them it throws all errors, a CompositeError, unless `ignore_errors`.
  Results join_all(bool ignore_errors = false, const WaitOptions& options = {},
                   const SourcePlace& place = SourcePlace::current()) {
    const Taken taken = take(detail::Join::All, options, place);
    std::vector<std::exception_ptr> errors = errors_in(taken);
    if (!ignore_errors && !errors.empty()) throw CompositeError(std::move(errors));
    Results results;
    for (const TaskRef& task : taken) {
      if (task->value) results.add(task->key, std::move(*task->value));
    }
    return results;
  }
  /// Takes the next one that has settled, however; suspends while there is none. Absent when the
  /// set is closed and empty.
  [[nodiscard]] std::optional<TaskResult<Key, T>> next(
      const WaitOptions& options = {}, const SourcePlace& place = SourcePlace::current()) {
    return result_of(this->core_->join(detail::Join::Stream, options, place));
  }

 private:
  template <class U, class K, class Handler>
  friend class detail::JoinBranch;

  struct Release {
    void operator()(Task* task) const noexcept { task->release(); }
  };
  using TaskRef = std::unique_ptr<Task, Release>;
  using Taken = std::vector<TaskRef>;

  Taken take(detail::Join kind, const WaitOptions& options, const SourcePlace& place) {
    return owned(this->core_->join(kind, options, place));
  }
  static Taken owned(const std::vector<detail::GroupTask*>& tasks) {
    Taken taken;
    for (detail::GroupTask* task : tasks) taken.emplace_back(&Owner::typed(*task));
    return taken;
  }
  static std::optional<TaskResult<Key, T>> result_of(const std::vector<detail::GroupTask*>& tasks) {
    const Taken taken = owned(tasks);
    if (taken.empty()) return std::nullopt;
    const TaskRef& task = taken.front();
    return TaskResult<Key, T>{task->key, std::move(task->value), task->error()};
  }
  static T value_of(const TaskRef& task) {
    if (task->error()) std::rethrow_exception(task->error());
    if constexpr (!std::is_void_v<T>) return std::move(*task->value);
  }
  static std::vector<std::exception_ptr> errors_in(const Taken& taken) {
    std::vector<std::exception_ptr> errors;
    for (const TaskRef& task : taken) {
      if (task->error()) errors.push_back(task->error());
    }
    return errors;
  }
};

}  // namespace fermata
