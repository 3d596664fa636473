// SPDX-License-Identifier: Apache-2.0
#pragma once

// The branch of a select that takes the result of a task; see select.hpp.

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "fermata/sync/select.hpp"
#include "fermata/sync/task_set.hpp"

namespace fermata {

namespace detail {

/// A place in the line of those who take results as TaskSet::next() does.
class JoinPlace final : private SelectPlace {
 public:
  JoinPlace(SelectWait& wait, GroupCore& group)
      : SelectPlace(wait), group_(group), joiner_(group, Join::Stream) {}

  [[nodiscard]] bool is_due() const noexcept {
    return joiner_.granted() || group_.can_join(Join::Stream);
  }
  [[nodiscard]] std::vector<GroupTask*> take() { return joiner_.take(); }

 private:
  [[nodiscard]] const Event& awaited() const noexcept override { return group_; }

  GroupCore& group_;
  GroupCore::Joiner joiner_;
};

template <class T, class Key, class Handler>
class JoinBranch final : public SelectBranchBase {
  using Result = std::optional<TaskResult<Key, T>>;

 public:
  using Place = JoinPlace;

  JoinBranch(TaskSet<T, Key>& set, Handler& handler, const SourcePlace& place) noexcept
      : SelectBranchBase(place), set_(&set), handler_(&handler) {}

  [[nodiscard]] bool is_due() const noexcept { return set_->core_->can_join(Join::Stream); }
  decltype(auto) run_now() const { return run(set_->next({}, this->place())); }
  [[nodiscard]] Place stand(SelectWait& wait) const { return Place(wait, *set_->core_); }
  [[nodiscard]] Result take_from(Place& there) const {
    return TaskSet<T, Key>::result_of(there.take());
  }
  decltype(auto) run(Result&& result) const { return std::invoke(*handler_, std::move(result)); }

 private:
  TaskSet<T, Key>* set_;
  Handler* handler_;
};

}  // namespace detail

/// Takes the next task of a set that has settled, as TaskSet::next() does. The handler gets a
/// `std::optional<TaskResult<Key, T>>`, which is empty when the set is closed and empty.
template <class T, class Key, class Handler>
requires(std::is_invocable_v<Handler&, std::optional<TaskResult<Key, T>>>) [[nodiscard]] FERMATA_HOT
    auto on_join(TaskSet<T, Key>& set, Handler&& handler,
                 const SourcePlace& place = SourcePlace::current()) {
  return detail::JoinBranch<T, Key, std::remove_reference_t<Handler>>(set, handler, place);
}

}  // namespace fermata
