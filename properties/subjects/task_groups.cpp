// SPDX-License-Identifier: Apache-2.0

// A set of tasks that consumers empty, and a group whose results everybody may see.

#include <array>
#include <chrono>
#include <memory>
#include <vector>

#include "fermata/runtime.hpp"
#include "properties/models/group_model.hpp"
#include "properties/scripts/law.hpp"
#include "properties/subjects/listed.hpp"

namespace fermata::properties {
namespace {
namespace task_groups {

using std::chrono::milliseconds;

class TaskGroups final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {10, "spawn", does<&TaskGroups::spawn_in_set>},
        {6, "next", does<&TaskGroups::next>},
        {2, "any", does<&TaskGroups::any>},
        {4, "spawn in the group", does<&TaskGroups::spawn_in_group>},
        {3, "all of the group", does<&TaskGroups::all>},
        {1, "close", does<&TaskGroups::close>, true},
        {1, "cancel", does<&TaskGroups::cancel>, true},
    });
  }

  explicit TaskGroups(Stage& on) : Subject(on) {}

  void at_rest() override {
    if (!set_.is_finished() || !group_.is_finished()) {
      stage.complain("TG-02 (WAKE): at rest there is " + set_.info() + " and " + group_.info());
    }
    if (any_waiters_ > 0 || all_waiters_ > 0) {
      stage.complain("TG-05 (WAKE): everything has settled, and somebody waits for it");
    }
    if (next_waiters_ > 0 && set_.count() > 0) {
      stage.complain("TG-15 (WAKE): a consumer waits beside " + set_.info());
    }
    stage.complain(set_model_.conserved(set_.count()));
  }

  void let_go() override { close(); }

  void at_end() override {
    set_.await_completion();
    while (const auto entry = set_.next()) stage.complain(set_model_.delivered(entry->key));
    stage.complain(set_model_.conserved(set_.count()));
    group_.suppress_errors();
  }

 private:
  void spawn_in_set(const Cue& cue) { spawn_into(set_, set_model_, cue); }
  void spawn_in_group(const Cue& cue) { spawn_into(group_, group_model_, cue); }

  template <class Group>
  void spawn_into(Group& group, models::GroupModel& model, const Cue& cue) {
    const auto key = std::make_shared<std::uint64_t>();
    const bool parts = cue.number == 5;  // The end of the body uses the groups.
    const auto body = [this, &model, key, number = cue.number,
                       parting = parts ? stage.parting(cue) : nullptr] {
      return work(model, *key, number);
    };
    const Due due = due_of_spawn(model);
    const Counted counted(spawners_);
    try {
      call(
          cue, due, [&] { *key = group.spawn(body, cue.patience); },
          [&](const Ending& end) {
            if (end.returned()) model.accepted(*key);
          });
    } catch (const UsageError&) {
      if (!model.is_closed()) throw;
    }
  }
  [[nodiscard]] Due due_of_spawn(const models::GroupModel& model) const {
    if (&model != &set_model_ || model.is_closed() || concurrency_ == 0 || queue_limit_ == 0) {
      return Due::Now;
    }
    if (model.unfinished() >= concurrency_ + queue_limit_) return Due::Later;
    return spawners_ == 0 ? Due::Now : Due::Unknown;
  }

  std::uint64_t work(models::GroupModel& model, std::uint64_t key, std::uint8_t number) {
    stage.complain(model.began(key));
    struct End {
      ~End() { model.ended(); }
      models::GroupModel& model;
    } const end{model};
    if (number % 3 == 1) suspend();
    if (number % 3 == 2) delay(milliseconds(number));
    if (number % 4 == 3) throw PlannedError(number);
    return key;
  }

  /// What is due when a call waits for one task of a set of several.
  [[nodiscard]] Due due_of_next() const {
    if (set_model_.is_cancelled() || next_waiters_ + any_waiters_ > 0) return Due::Unknown;
    if (set_model_.has_something()) return Due::Now;
    return set_model_.unfinished() > 0 ? Due::Later : Due::Unknown;
  }
  // Whoever fails has taken nothing along.
  void recount(const Ending& end) {
    given_back_ = given_back_ || !end.returned();
    if (end.forced() || next_waiters_ + any_waiters_ > 1) return;
    stage.complain(set_model_.conserved(set_.count()));
  }

  void next(const Cue& cue) {
    const Due due = due_of_next();
    const Counted counted(next_waiters_);
    const auto take = [&] {
      if (const auto entry = set_.next(cue.patience)) {
        stage.complain(set_model_.delivered(entry->key));
      } else if (!given_back_ && set_.count() > 0) {
        stage.complain("TG-17 (VAL): a consumer is told that nothing comes, beside " + set_.info());
      }
    };
    call(cue, due, take, [&](const Ending& end) { recount(end); });
  }

  void any(const Cue& cue) {
    const Counted counted(any_waiters_);
    const auto take = [&] {
      try {
        stage.complain(set_model_.delivered(set_.join_any(cue.patience)));
      } catch (const CompositeError& failures) {
        set_model_.delivered_together(failures.errors().size());
      } catch (const UsageError&) {  // There was nothing.
      }
    };
    call(cue, Due::Unknown, take, [&](const Ending& end) { recount(end); });
  }

  void all(const Cue& cue) {
    const Counted counted(all_waiters_);
    std::vector<std::uint64_t> keys;
    const auto take = [&] {
      for (const auto& [key, value] : await(group_.all(true), cue.patience)) keys.push_back(key);
    };
    const Due due = group_model_.unfinished() == 0 ? Due::Kept : Due::Later;
    call(cue, due, take, [&](const Ending& end) {
      if (end.returned()) stage.complain(models::GroupModel::in_order(keys));
    });
  }

  void cancel() {
    set_model_.cancel();
    set_.cancel();
  }
  void close() {
    set_model_.close();
    set_.close();
  }

  const std::size_t concurrency_ = stage.script().shape[0] % 4u;
  const std::size_t queue_limit_ = stage.script().shape[1] % 3u;
  TaskSet<std::uint64_t> set_{
      TaskGroupOptions{.concurrency = concurrency_, .queue_limit = queue_limit_}};
  models::GroupModel set_model_{concurrency_};
  TaskGroup<std::uint64_t> group_;
  models::GroupModel group_model_{0};
  std::size_t spawners_ = 0;
  std::size_t next_waiters_ = 0;
  std::size_t any_waiters_ = 0;
  std::size_t all_waiters_ = 0;
  bool given_back_ = false;  // Somebody may have had a task of the set, and left without it.
};

}  // namespace task_groups
}  // namespace

constinit const Law kTaskGroups = {
    "task_groups",
    "tasks run within their limit, each settles once, and goes to one consumer",
    {"G-03", "G-07", "TG-01", "TG-02", "TG-03", "TG-04", "TG-05", "TG-09", "TG-15"},
    &scripts_over<task_groups::TaskGroups>};

}  // namespace fermata::properties
