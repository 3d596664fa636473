// SPDX-License-Identifier: Apache-2.0

// A set of tasks that consumers empty, and a group whose results everybody may see.

#include <array>
#include <chrono>
#include <memory>
#include <vector>

#include "fermata/runtime.hpp"
#include "properties/models/group_model.hpp"
#include "properties/scripts/law.hpp"

namespace fermata::properties {
namespace {
namespace task_groups {

using std::chrono::milliseconds;

enum Operations : std::uint8_t { kSpawn, kNext, kAny, kGroupSpawn, kAll, kClose, kCancel };
constexpr std::array kOperations = {
    10 * "spawn"_op,           6 * "next"_op,  2 * "any"_op,   4 * "spawn in the group"_op,
    3 * "all of the group"_op, 1 * "close"_op, 1 * "cancel"_op};

class TaskGroups final : public Subject {
 public:
  explicit TaskGroups(Stage& on) : Subject(on) {}

  void perform(std::size_t, const Step& step) override {
    const WaitOptions options = stage.patience(step.number);
    switch (operation_of(step)) {
      case kSpawn:
        return spawn_into(set_, set_model_, step, options);
      case kNext:
        return next(options);
      case kAny:
        return any(options);
      case kGroupSpawn:
        return spawn_into(group_, group_model_, step, options);
      case kAll:
        return all(options);
      case kClose:
        return close();
      case kCancel:
        set_model_.cancel();
        return set_.cancel();
    }
  }

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
  struct Counted {
    explicit Counted(std::size_t& counter) : count(++counter) {}
    Counted(const Counted&) = delete;
    ~Counted() { --count; }
    std::size_t& count;
  };

  template <class Group>
  void spawn_into(Group& group, models::GroupModel& model, const Step& step,
                  const WaitOptions& options) {
    const auto key = std::make_shared<std::uint64_t>();
    try {
      *key = group.spawn([this, &model, key, step] { return work(model, *key, step); }, options);
    } catch (const UsageError&) {
      if (!model.closed()) throw;
      return;
    }
    model.accepted(*key);
  }

  std::uint64_t work(models::GroupModel& model, std::uint64_t key, const Step& step) {
    stage.complain(model.began(key));
    struct End {
      ~End() { model.ended(); }
      models::GroupModel& model;
    } const end{model};
    if (step.number % 3 == 1) suspend();
    if (step.number % 3 == 2) delay(milliseconds(step.number));
    if (step.number % 4 == 3) throw PlannedError(step.number);
    return key;
  }

  void next(const WaitOptions& options) {
    const Counted counted(next_waiters_);
    if (const auto entry = set_.next(options)) stage.complain(set_model_.delivered(entry->key));
  }

  void any(const WaitOptions& options) {
    const Counted counted(any_waiters_);
    try {
      stage.complain(set_model_.delivered(set_.join_any(options)));
    } catch (const CompositeError& failures) {
      set_model_.delivered_together(failures.errors().size());
    } catch (const UsageError&) {  // There was nothing.
    }
  }

  void all(const WaitOptions& options) {
    const Counted counted(all_waiters_);
    std::vector<std::uint64_t> keys;
    for (const auto& [key, value] : await(group_.all(true), options)) keys.push_back(key);
    stage.complain(models::GroupModel::in_order(keys));
  }

  void close() {
    set_model_.close();
    set_.close();
  }

  const std::size_t concurrency_ = stage.script().shape[0] % 4u;
  TaskSet<std::uint64_t> set_{
      TaskGroupOptions{.concurrency = concurrency_, .queue_limit = stage.script().shape[1] % 3u}};
  models::GroupModel set_model_{concurrency_};
  TaskGroup<std::uint64_t> group_;
  models::GroupModel group_model_{0};
  std::size_t next_waiters_ = 0;
  std::size_t any_waiters_ = 0;
  std::size_t all_waiters_ = 0;
};

}  // namespace task_groups
}  // namespace

constinit const Law kTaskGroups = {
    "task_groups",
    "tasks run within their limit, each settles once, and goes to one consumer",
    {"G-03", "G-07", "TG-01", "TG-02", "TG-03", "TG-04", "TG-05", "TG-09", "TG-15"},
    &scripts_over<task_groups::TaskGroups, task_groups::kOperations>};

}  // namespace fermata::properties
