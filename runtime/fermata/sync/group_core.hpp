// SPDX-License-Identifier: Apache-2.0
#pragma once

// The engine of TaskGroup and TaskSet, but for the types of keys and values.
//
// Life of a task  pending -> running -> done or failed, once (TG-03). It is accepted when there is
//                 room; at most `concurrency` run, at most `queue_limit` are pending (TG-01).
// Order           Pending tasks start first in, first out (TG-02); who waits for room is served
//                 likewise, and what a cancelled one was granted goes to the next (TG-14).
// Completion      Closed, and every task settled: then it closes as an event, which replays.
// Errors          A task's error is the group's. One that nobody has looked at when the group goes
//                 is reported to the scope that the group was made in (TG-12).
// Ownership       The handle and each running task hold a reference.
// Source          TG-01 to 18.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/base/intrusive_list.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/scope.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/operation.hpp"
#include "fermata/sync/wait_queue.hpp"

namespace fermata {

struct TaskGroupOptions {
  /// Tasks that run at a time; 0 for any number.
  std::size_t concurrency = 0;
  /// Tasks that may be pending; 0 for any number. Absent: twice the concurrency.
  std::optional<std::size_t> queue_limit;
  /// Where tasks run. Null: a scope of the group's own, below the current one.
  const Scope* scope = nullptr;
};

namespace detail {

class GroupCore;

/// A task that a group has accepted under one key. It subscribes to its coroutine.
class GroupTask : public backend::Callback {
 public:
  enum class State : std::uint8_t { Pending, Running, Done, Failed };

  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] const std::exception_ptr& error() const noexcept { return error_; }
  /// The error, if there is one, has found its taker.
  void mark_handled() noexcept { handled_ = true; }
  /// The error is handled when somebody catches that of `future`.
  void show_to(Event& future) { shown_to_.push_back(Ref<Event>::share(future)); }

 protected:
  GroupTask() = default;
  virtual ~GroupTask() = default;

 private:
  friend class GroupCore;

  virtual void work() = 0;
  virtual void drop_body() noexcept = 0;
  [[nodiscard]] virtual bool has_value() const noexcept = 0;
  [[nodiscard]] virtual std::string label() const = 0;

  void run(Event& coroutine, const Outcome& outcome) final;
  void destroy() noexcept final { delete this; }
  [[nodiscard]] bool is_unhandled() const noexcept;

  GroupCore* group_ = nullptr;
  Ref<CoroutineBase> coroutine_;  // While it runs.
  SourcePlace place_;
  std::exception_ptr error_;
  std::vector<Ref<Event>> shown_to_;
  std::uint64_t index_ = 0;     // Of acceptance.
  std::uint64_t sequence_ = 0;  // Of completion.
  bool handled_ = false;
  State state_ = State::Pending;
  Link<GroupTask> link_;
  Link<GroupTask> order_link_;

 public:
  using SpawnOrder = IntrusiveList<GroupTask, &GroupTask::link_>;
  /// Order of tasks: pending ones by their start, settled ones by their completion.
  using Order = IntrusiveList<GroupTask, &GroupTask::order_link_>;
};

/// Resolves once, when what it waits for has come.
class GroupWaiter {
 public:
  virtual ~GroupWaiter() = default;
  [[nodiscard]] virtual bool due(const GroupCore& group) const = 0;
  virtual void resolve(GroupCore& group) = 0;
  /// The event that it resolves.
  [[nodiscard]] virtual const Event& promised() const = 0;
};

/// How a consumer takes results out of a set.
enum class Join : std::uint8_t {
  Next,    // the next that has settled
  Stream,  // the same, and waits for tasks to come as long as it is open
  Any,     // the next that has succeeded; all, when all have failed
  All,     // what is there when everything has settled
};

class GroupCore final : public Event {
 public:
  GroupCore(Name&& name, const TaskGroupOptions& options, const SourcePlace& place);

  // --- spawning ---

  /// UsageError when it takes no more.
  void require_open() const;
  /// Waits until there is room for one more task, which must be accepted at once. Throws when the
  /// group is closed meanwhile; Timeout, OperationCancelled, Cancellation.
  void wait_for_room(const WaitOptions& options, const SourcePlace& place);
  /// Starts `task`, or queues it. Takes over its ownership.
  void accept(GroupTask& task, const SourcePlace& place);

  // --- ending ---

  void close();
  /// Null: "TaskGroup cancelled".
  void cancel(std::exception_ptr reason);
  /// The handle goes: an own scope ends with all that runs in it; in another one it goes on.
  void abandon() noexcept;
  void finally(std::function<void()> handler);
  void await_completion(const WaitOptions& options, const SourcePlace& place);

  // --- looking ---

  [[nodiscard]] const GroupTask::SpawnOrder& tasks() const noexcept { return tasks_; }
  [[nodiscard]] const GroupTask::Order& settled() const noexcept { return settled_; }
  [[nodiscard]] bool is_closed_to_new() const noexcept { return closed_to_new_; }
  /// Nothing runs and nothing is pending.
  [[nodiscard]] bool is_settled() const noexcept { return active_ == 0 && pending_.empty(); }
  [[nodiscard]] const GroupTask* first_done() const noexcept;
  [[nodiscard]] std::size_t active_count() const noexcept { return active_; }
  [[nodiscard]] std::size_t pending() const noexcept { return pending_.size(); }
  void mark_handled() noexcept;
  void add_waiter(std::unique_ptr<GroupWaiter> waiter);

  /// Waits until something follows `last` (null: anything) in the order of completion; null when
  /// nothing will.
  [[nodiscard]] GroupTask* after(const GroupTask* last, const WaitOptions& options,
                                 const SourcePlace& place);

  // --- consuming ---

  /// Takes tasks out of the set. Each belongs to one consumer, who releases it (TG-15). Empty when
  /// there is nothing, and nothing will come.
  [[nodiscard]] std::vector<GroupTask*> join(Join kind, const WaitOptions& options,
                                             const SourcePlace& place);
  /// Whether join() would not wait.
  [[nodiscard]] bool can_join(Join kind) const noexcept {
    return !joiners_[static_cast<std::size_t>(kind)].can_grant() && can_satisfy(kind);
  }
  class Joiner;

  /// "TaskGroup(total=T, active=A)"
  [[nodiscard]] std::string info() const override;
  void explain_wait(backend::WaitFacts& facts, const CoroutineBase& waiter) const override;
  [[nodiscard]] bool answers_for(const Event& other) const noexcept override;
  [[nodiscard]] bool lines_are_in_order() const noexcept override;
  [[nodiscard]] const Outcome* replay() const noexcept override {
    return is_closed() ? &outcome_ : nullptr;
  }

 private:
  friend class GroupTask;

  ~GroupCore() override;

  [[nodiscard]] bool has_slot() const noexcept {
    return concurrency_ == 0 || active_ < concurrency_;
  }
  [[nodiscard]] bool has_room() const noexcept;
  [[nodiscard]] bool can_satisfy(Join kind) const noexcept;
  [[nodiscard]] WaitQueue& joiners(Join kind) noexcept {
    return joiners_[static_cast<std::size_t>(kind)];
  }
  std::vector<GroupTask*> take(Join kind) noexcept;
  void give_back(const std::vector<GroupTask*>& tasks) noexcept;
  void start(GroupTask& task);
  void ended(GroupTask& task, const std::exception_ptr& error);
  void settle(GroupTask& task, const std::exception_ptr& error);
  void stop_spawning();
  void cancel_tasks(const std::exception_ptr& reason);
  void advance();
  void serve_joiners();
  void resolve_waiters();
  void complete();
  void report_unhandled() noexcept;

  Name name_;
  std::size_t concurrency_;
  std::size_t queue_limit_;
  std::optional<Scope> own_scope_;
  Ref<ScopeBase> scope_;
  Ref<ScopeBase> home_;  // Where the group was made.
  GroupTask::SpawnOrder tasks_;
  GroupTask::Order pending_;
  GroupTask::Order settled_;
  std::size_t active_ = 0;
  std::uint64_t next_index_ = 0;
  std::uint64_t last_sequence_ = 0;
  bool closed_to_new_ = false;
  bool abandoned_ = false;
  bool advancing_ = false;
  WaitQueue room_line_;
  WaitQueue cursors_;
  WaitQueue joiners_[4];
  std::vector<std::unique_ptr<GroupWaiter>> waiters_;
  std::vector<std::function<void()>> finally_handlers_;
  Outcome outcome_;
};

/// A place in the line of those who join. What it was granted, and does not take, goes back.
class GroupCore::Joiner final : public Waiter {
 public:
  Joiner(GroupCore& group, Join kind);
  ~Joiner();

  /// Leaves the line with what it was granted, or with what is there now. REQUIRES: it has been
  /// granted its turn, or the group can be joined.
  [[nodiscard]] std::vector<GroupTask*> take();

 private:
  friend class GroupCore;

  const Ref<GroupCore> group_;
  const Join kind_;
  std::vector<GroupTask*> granted_tasks_;
};

/// The errors of all tasks that failed, in the order of their spawn.
[[nodiscard]] std::vector<std::exception_ptr> errors_of(const GroupCore& group);

}  // namespace detail
}  // namespace fermata
