// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tasks of a group with their types, and what hands them to its core.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "fermata/base/text_of.hpp"
#include "fermata/core/lazy_body.hpp"
#include "fermata/sync/future.hpp"
#include "fermata/sync/group_core.hpp"

namespace fermata {

/// How one task ended: a value, or an error.
template <class Key, class T>
struct TaskResult {
  Key key;
  std::optional<detail::ValueOrNothing<T>> value;
  std::exception_ptr error;
};

namespace detail {

template <class T, class Key>
class GroupTaskOf : public GroupTask {
 public:
  explicit GroupTaskOf(Key name) : key(std::move(name)) {}
  const Key key;
  std::optional<ValueOrNothing<T>> value;

 private:
  [[nodiscard]] bool has_value() const noexcept final { return value.has_value(); }
  [[nodiscard]] std::string label() const final { return "task " + text_of(key); }
};

template <class T, class Key, class F>
class TaskWithBody final : public GroupTaskOf<T, Key> {
 public:
  template <class B>
  TaskWithBody(Key name, B&& body)
      : GroupTaskOf<T, Key>(std::move(name)), body_(std::forward<B>(body)) {}

 private:
  void work() override {
    if constexpr (std::is_void_v<T>) {
      run_body(*body_);
      this->value.emplace();
    } else {
      this->value.emplace(run_body(*body_));
    }
  }
  void drop_body() noexcept override { body_.reset(); }

  std::optional<F> body_;
};

template <class T, class Key, class Handler>
class JoinBranch;

/// The common part of TaskGroup and TaskSet: spawning and ending. Move-only.
template <class T, class Key>
class TaskOwner {
 public:
  TaskOwner(TaskOwner&& other) noexcept = default;
  TaskOwner& operator=(TaskOwner&& other) noexcept {
    std::swap(core_, other.core_);
    std::swap(keys_, other.keys_);
    std::swap(next_key_, other.next_key_);
    return *this;
  }
  /// Cancels tasks that run in the group's own scope, and waits for them as a Scope does; in
  /// another scope they run on.
  ~TaskOwner() {
    if (core_) core_->abandon();
  }

  /// Spawns under the next key, which is returned. Suspends while there is no room. Throws
  /// UsageError on a closed one, also when it is closed meanwhile; Timeout, OperationCancelled,
  /// Cancellation: then nothing is spawned (TG-14).
  template <class F>
  requires(std::is_same_v<Key, std::uint64_t>) Key
      spawn(F&& body, const WaitOptions& options = {},
            const SourcePlace& place = SourcePlace::current()) {
    core_->require_open();
    require_spawnable(body);
    const Key key = next_key_++;
    put(key, std::forward<F>(body), options, place);
    return key;
  }
  /// Spawns a task under a key of the caller's, which must be new (TG-16). Messages show the key as
  /// text_of() makes it.
  template <class F>
  void spawn_with_key(Key key, F&& body, const WaitOptions& options = {},
                      const SourcePlace& place = SourcePlace::current()) {
    core_->require_open();
    require_spawnable(body);
    if (keys_->contains(key)) {
      throw UsageError("spawn_with_key: key \"" + text_of(key) +
                       "\" is in use: expected a new one");
    }
    if constexpr (std::is_same_v<Key, std::uint64_t>) {
      if (key >= next_key_) next_key_ = key + 1;
    }
    put(std::move(key), std::forward<F>(body), options, place);
  }

  /// Nothing new is taken; what is there goes on. Idempotent.
  void close() { core_->close(); }
  /// Closes; pending tasks fail with `reason`, which must hold a Cancellation (null: "TaskGroup
  /// cancelled"), running ones get it. Works until everything has settled (TG-10).
  void cancel(std::exception_ptr reason = nullptr) { core_->cancel(std::move(reason)); }
  /// `handler` runs in a coroutine of its own when it is closed and everything has settled; at once
  /// when that is so already (TG-11).
  void finally(std::function<void()> handler) { core_->finally(std::move(handler)); }
  /// Waits until it is closed and everything has settled; never throws a task's error (TG-08).
  /// UsageError when it has not been closed.
  void await_completion(const WaitOptions& options = {},
                        const SourcePlace& place = SourcePlace::current()) {
    core_->await_completion(options, place);
  }

  [[nodiscard]] std::size_t count() const noexcept { return core_->tasks().size(); }
  [[nodiscard]] bool is_closed() const noexcept { return core_->is_closed_to_new(); }
  /// Nothing runs and nothing is pending.
  [[nodiscard]] bool is_finished() const noexcept { return core_->is_settled(); }
  [[nodiscard]] std::string info() const { return core_->info(); }
  /// Fires when it is closed and everything has settled; replays.
  [[nodiscard]] Event& event() const noexcept { return *core_; }

 protected:
  using Task = GroupTaskOf<T, Key>;

  TaskOwner(Name name, const TaskGroupOptions& options, const SourcePlace& place)
      : core_(Ref<GroupCore>::adopt(*new GroupCore(std::move(name), options, place))) {}

  [[nodiscard]] static Task& typed(GroupTask& task) noexcept { return static_cast<Task&>(task); }
  [[nodiscard]] static const Task& typed(const GroupTask& task) noexcept {
    return static_cast<const Task&>(task);
  }

  Ref<GroupCore> core_;

 private:
  template <class U, class K, class Handler>
  friend class JoinBranch;

  // The key is taken before the caller may suspend, and free again when nothing came of it.
  template <class F>
  void put(Key key, F&& body, const WaitOptions& options, const SourcePlace& place) {
    const auto core = core_;
    const auto keys = keys_;
    keys->insert(key);
    try {
      core->wait_for_room(options, place);
      auto* task = new TaskWithBody<T, Key, std::decay_t<F>>(key, std::forward<F>(body));
      core->accept(*task, place);
    } catch (...) {
      keys->erase(key);
      throw;
    }
  }

  // Shared with those who wait for room.
  std::shared_ptr<std::set<Key>> keys_ = std::make_shared<std::set<Key>>();
  Key next_key_{};
};

}  // namespace detail
}  // namespace fermata
