// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tasks whose results stay: any number of views of them, none of which removes anything.
//
// Views        all, race and any give futures; cancelling one, or its token, cancels no task
//              (TG-07). Order is that of completion where one is picked, of spawn where all are.
// Errors       Of a task: those of the group. They are handled when somebody catches them through
//              a future, iterates, calls errors(), suppress_errors() or cancel(). What nobody has
//              handled when the group goes is an unhandled error of the scope it was made in.
// Source       TG-01 to 14, 16 to 18.

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "fermata/base/given_name.hpp"
#include "fermata/sync/keyed.hpp"
#include "fermata/sync/task_owner.hpp"

namespace fermata {

template <class T = void, class Key = std::uint64_t>
class TaskGroup : public detail::TaskOwner<T, Key> {
  static_assert(std::is_void_v<T> || std::is_copy_constructible_v<T>,
                "a TaskGroup gives copies of its results: use a TaskSet");
  using Owner = detail::TaskOwner<T, Key>;
  using typename Owner::Task;

 public:
  using Value = detail::ValueOrNothing<T>;
  using Results = Keyed<Key, Value>;

  /// A group without tasks. Throws UsageError when the scope in `options` takes no more.
  explicit TaskGroup(const TaskGroupOptions& options = {},
                     const SourcePlace& place = SourcePlace::current())
      : TaskGroup(Name(), options, place) {}
  explicit TaskGroup(backend::GivenName name, const TaskGroupOptions& options = {},
                     const SourcePlace& place = SourcePlace::current())
      : Owner(std::move(name), options, place) {}

  /// A future of all values, in order of spawn; it is resolved when nothing runs and nothing is
  /// pending. With any error it fails with all of them, a CompositeError, unless `ignore_errors`.
  [[nodiscard]] Future<Results> all(bool ignore_errors = false) {
    return watch<AllWaiter>(ignore_errors);
  }
  /// A future of the first task that ends, with its value or error. UsageError on an empty group.
  [[nodiscard]] Future<T> race() {
    FERMATA_REQUIRE(this->count() > 0, "race: the task group is empty: expected a task in it");
    return watch<RaceWaiter>();
  }
  /// A future of the first value; a CompositeError when all have failed. UsageError on an empty
  /// group.
  [[nodiscard]] Future<T> any() {
    FERMATA_REQUIRE(this->count() > 0, "any: the task group is empty: expected a task in it");
    return watch<AnyWaiter>();
  }

  /// The results of the tasks that have succeeded so far, in order of spawn.
  [[nodiscard]] Results results() const { return results_of(*this->core_); }
  /// The errors of the tasks that have failed so far; marks them as handled.
  [[nodiscard]] Keyed<Key, std::exception_ptr> errors() {
    Keyed<Key, std::exception_ptr> errors;
    for_each(*this->core_, [&](const Task& task) {
      if (task.error()) errors.add(task.key, task.error());
    });
    this->core_->mark_handled();
    return errors;
  }
  void suppress_errors() { this->core_->mark_handled(); }

  /// Walks over the tasks in the order of their completion, independently of others.
  class Cursor {
   public:
    /// The next task that has ended. Suspends while there is none; absent when the group is closed
    /// and all were seen.
    [[nodiscard]] std::optional<TaskResult<Key, T>> next(
        const WaitOptions& options = {}, const SourcePlace& place = SourcePlace::current()) {
      detail::GroupTask* const task = core_->after(last_, options, place);
      if (task == nullptr) return std::nullopt;
      last_ = task;
      task->mark_handled();
      const Task& seen = static_cast<const Task&>(*task);
      return TaskResult<Key, T>{seen.key, seen.value, seen.error()};
    }

   private:
    friend class TaskGroup;
    explicit Cursor(Ref<detail::GroupCore> core) noexcept : core_(std::move(core)) {}
    Ref<detail::GroupCore> core_;
    const detail::GroupTask* last_ = nullptr;
  };
  /// Marks the errors so far handled.
  [[nodiscard]] Cursor cursor() {
    this->core_->mark_handled();
    return Cursor(this->core_);
  }

 private:
  template <class V>
  class WaiterOf : public detail::GroupWaiter {
   public:
    [[nodiscard]] Future<V> future() const { return promise_.future(); }
    [[nodiscard]] const Event& promised() const override { return promise_.future().event(); }

   protected:
    void fail(detail::GroupCore& group) {
      for_each(group, [this](Task& task) {
        if (task.error()) task.show_to(future().event());
      });
      promise_.try_fail(CompositeError(errors_of(group)));
    }
    Promise<V> promise_;
  };

  class AllWaiter final : public WaiterOf<Results> {
   public:
    explicit AllWaiter(bool ignore_errors) : ignore_errors_(ignore_errors) {}

   private:
    [[nodiscard]] bool due(const detail::GroupCore& group) const override {
      return group.is_settled();
    }
    void resolve(detail::GroupCore& group) override {
      if (!ignore_errors_ && !errors_of(group).empty()) return this->fail(group);
      this->promise_.try_complete(results_of(group));
    }
    bool ignore_errors_;
  };

  class PickWaiter : public WaiterOf<T> {
   protected:
    void complete(const Task& task) {
      if constexpr (std::is_void_v<T>) {
        this->promise_.try_complete();
      } else {
        this->promise_.try_complete(*task.value);
      }
    }
  };

  class RaceWaiter final : public PickWaiter {
    [[nodiscard]] bool due(const detail::GroupCore& group) const override {
      return !group.settled().empty();
    }
    void resolve(detail::GroupCore& group) override {
      Task& first = Owner::typed(*group.settled().first());
      if (!first.error()) return this->complete(first);
      first.show_to(this->future().event());
      this->promise_.try_fail(first.error());
    }
  };

  class AnyWaiter final : public PickWaiter {
    [[nodiscard]] bool due(const detail::GroupCore& group) const override {
      return group.first_done() != nullptr || group.is_settled();
    }
    void resolve(detail::GroupCore& group) override {
      const detail::GroupTask* const first = group.first_done();
      if (first == nullptr) return this->fail(group);
      this->complete(Owner::typed(*first));
    }
  };

  template <class Waiter, class... Arguments>
  auto watch(Arguments... arguments) {
    auto waiter = std::make_unique<Waiter>(arguments...);
    auto future = waiter->future();
    this->core_->add_waiter(std::move(waiter));
    return future;
  }

  template <class Visit>
  static void for_each(const detail::GroupCore& group, Visit visit) {
    for (detail::GroupTask* task = group.tasks().first(); task != nullptr;
         task = detail::GroupTask::SpawnOrder::after(*task)) {
      visit(Owner::typed(*task));
    }
  }
  [[nodiscard]] static Results results_of(const detail::GroupCore& group) {
    Results results;
    for_each(group, [&](const Task& task) {
      if (task.state() == detail::GroupTask::State::Done) results.add(task.key, *task.value);
    });
    return results;
  }
};

}  // namespace fermata
