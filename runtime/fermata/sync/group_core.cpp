// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/group_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/core/switching.hpp"

namespace fermata::detail {

namespace {

std::size_t queue_limit_of(const TaskGroupOptions& options) {
  if (options.queue_limit) return *options.queue_limit;
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  return options.concurrency > kMost / 2 ? kMost : options.concurrency * 2;
}

std::exception_ptr usage_error(const char* text) {
  return std::make_exception_ptr(UsageError(text));
}

constexpr const char* kNoMoreTasks = "spawn: the task group is closed: expected an open one";
constexpr const char* kOver = "spawn: the task group has completed: expected an open one";

}  // namespace

// --- a task ---

void GroupTask::run(Event& coroutine, const Outcome& outcome) {
  FERMATA_ASSERT(group_ != nullptr);
  FERMATA_ASSERT(state_ == State::Running);
  coroutine.mark_exception_handled();
  group_->ended(*this, outcome.error);
}

bool GroupTask::is_unhandled() const noexcept {
  if (state_ != State::Failed || handled_ || is_cancellation(error_)) return false;
  return std::none_of(shown_to_.begin(), shown_to_.end(),
                      [](const Ref<Event>& future) { return future->exception_caught(); });
}

// --- life ---

GroupCore::GroupCore(Name&& name, const TaskGroupOptions& options, const SourcePlace& place)
    : Event(current_runtime(), backend::EventKind::Plain),
      name_(std::move(name)),
      concurrency_(options.concurrency),
      queue_limit_(queue_limit_of(options)),
      home_(Ref<ScopeBase>::share(current_scope())) {
  if (options.scope != nullptr) {
    scope_ = Ref<ScopeBase>::share(**options.scope);
    FERMATA_REQUIRE(scope_->is_open(), "TaskGroup: the scope is disposed: expected an open one");
    home_ = scope_;
  } else {
    own_scope_.emplace(Name("TaskGroup"), place);
    scope_ = Ref<ScopeBase>::share(**own_scope_);
  }
}

GroupCore::~GroupCore() {
  FERMATA_ASSERT(active_ == 0);
  FERMATA_ASSERT(pending_.empty());
  while (GroupTask* task = tasks_.first()) {
    tasks_.remove(*task);
    task->release();
  }
}

void GroupCore::explain_wait(backend::WaitFacts& facts, const CoroutineBase& waiter) const {
  facts.is("task group", name_.view(), nullptr);
  facts.state(fmt::format("{} running, {} pending", active_, pending_.size()));
  const bool one_is_enough = room_line_.has(waiter) || cursors_.has(waiter) ||
                             std::any_of(std::begin(joiners_), std::end(joiners_) - 1,
                                         [&](const WaitQueue& line) { return line.has(waiter); });
  for (const GroupTask* task = tasks_.first(); task != nullptr;
       task = GroupTask::SpawnOrder::after(*task)) {
    if (!task->coroutine_) continue;
    one_is_enough ? facts.accepts(*task->coroutine_) : facts.needs(*task->coroutine_);
  }
}

bool GroupCore::answers_for(const Event& other) const noexcept {
  return std::any_of(waiters_.begin(), waiters_.end(),
                     [&](const auto& waiter) { return &waiter->promised() == &other; });
}

bool GroupCore::lines_are_in_order() const noexcept {
  return room_line_.is_in_order() && cursors_.is_in_order() &&
         std::all_of(std::begin(joiners_), std::end(joiners_),
                     [](const WaitQueue& line) { return line.is_in_order(); });
}

std::string GroupCore::info() const {
  return fmt::format("TaskGroup(total={}, active={})", tasks_.size(), active_);
}

// --- spawning ---

void GroupCore::require_open() const {
  FERMATA_REQUIRE(!is_closed(), kOver);
  FERMATA_REQUIRE(!closed_to_new_, kNoMoreTasks);
}

// Places that have been granted are taken.
bool GroupCore::has_room() const noexcept {
  if (concurrency_ == 0 || queue_limit_ == 0) return true;
  const std::size_t taken = active_ + pending_.size() + room_line_.granted();
  return taken < concurrency_ || taken - concurrency_ < queue_limit_;
}

void GroupCore::wait_for_room(const WaitOptions& options, const SourcePlace& place) {
  check_token(options);
  require_open();
  if (has_room() && !room_line_.can_grant()) return;
  const auto keep = Ref<GroupCore>::share(*this);
  Waiter me(room_line_);
  try {
    me.park(*this, options, place);
  } catch (...) {
    if (me.leave()) advance();
    throw;
  }
  FERMATA_ASSERT(me.granted());
  me.leave();
}

void GroupCore::accept(GroupTask& task, const SourcePlace& place) {
  FERMATA_ASSERT(!closed_to_new_);
  FERMATA_ASSERT(task.group_ == nullptr);
  task.group_ = this;
  task.place_ = place;
  task.index_ = next_index_++;
  task.add_ref();
  tasks_.push_back(task);
  pending_.push_back(task);
  advance();
}

// The task fails when the scope takes no more.
void GroupCore::start(GroupTask& task) {
  FERMATA_ASSERT(task.state_ == GroupTask::State::Pending);
  FERMATA_ASSERT(has_slot());
  try {
    std::string name = task.label();
    if (!name_.empty()) name = fmt::format("{} {}", name_.view(), name);
    const auto coroutine = spawn_in(runtime(), Name(name), task.place_, Priority::Normal,
                                    scope_.get(), [&task] { task.work(); });
    task.coroutine_ = Ref<CoroutineBase>::share(coroutine.event());
  } catch (...) {
    return settle(task, std::current_exception());
  }
  task.state_ = GroupTask::State::Running;
  ++active_;
  add_ref();  // Until it has ended.
  task.coroutine_->add_callback(task);
}

void GroupCore::ended(GroupTask& task, const std::exception_ptr& error) {
  const auto keep = Ref<GroupCore>::adopt(*this);
  FERMATA_ASSERT(active_ > 0);
  FERMATA_ASSERT(task.group_ == this);
  --active_;
  task.coroutine_.reset();
  const bool cut = !error && !task.has_value();
  settle(task, cut ? std::make_exception_ptr(Cancellation("TaskGroup cancelled")) : error);
  advance();
}

// What the end of the body does to the group finds the task among those that have settled.
void GroupCore::settle(GroupTask& task, const std::exception_ptr& error) {
  FERMATA_ASSERT(task.sequence_ == 0);
  FERMATA_ASSERT(!task.coroutine_);
  task.state_ = error ? GroupTask::State::Failed : GroupTask::State::Done;
  task.error_ = error;
  task.sequence_ = ++last_sequence_;
  settled_.push_back(task);
  const auto keep = Ref<GroupTask>::share(task);
  task.drop_body();
}

// Whatever has become possible happens: tasks start, places are granted, waiters get their results.
void GroupCore::advance() {
  if (std::exchange(advancing_, true)) return;
  const auto keep = Ref<GroupCore>::share(*this);
  while (has_slot() && !pending_.empty()) {
    GroupTask& next = *pending_.first();
    pending_.remove(next);
    start(next);
  }
  while (!closed_to_new_ && room_line_.can_grant() && has_room()) room_line_.grant();
  FERMATA_ASSERT(concurrency_ == 0 || active_ <= concurrency_);
  advancing_ = false;
  serve_joiners();
  resolve_waiters();
  while (cursors_.grant()) {
  }
  if (closed_to_new_ && is_settled() && !is_closed()) complete();
}

// --- ending ---

void GroupCore::stop_spawning() {
  closed_to_new_ = true;
  room_line_.fail_all(usage_error(kNoMoreTasks), true);
  FERMATA_ASSERT(room_line_.empty());
}

void GroupCore::close() {
  if (closed_to_new_) return;
  stop_spawning();
  advance();
}

void GroupCore::cancel(std::exception_ptr reason) {
  if (is_closed()) return;
  if (!reason) reason = std::make_exception_ptr(Cancellation("TaskGroup cancelled"));
  FERMATA_REQUIRE(is_cancellation(reason), "cancel: the reason must be a Cancellation");
  mark_handled();
  cancel_tasks(reason);
}

void GroupCore::cancel_tasks(const std::exception_ptr& reason) {
  const auto keep = Ref<GroupCore>::share(*this);
  stop_spawning();
  while (GroupTask* task = pending_.first()) {
    pending_.remove(*task);
    settle(*task, reason);
  }
  std::vector<Ref<CoroutineBase>> running;
  for (GroupTask* task = tasks_.first(); task != nullptr;
       task = GroupTask::SpawnOrder::after(*task)) {
    if (task->coroutine_) running.push_back(task->coroutine_);
  }
  for (const auto& coroutine : running) coroutine->cancel(reason);
  advance();
}

void GroupCore::abandon() noexcept {
  FERMATA_ASSERT(!abandoned_);
  abandoned_ = true;
  if (is_closed()) {
    report_unhandled();
  } else if (own_scope_) {
    cancel_tasks(std::make_exception_ptr(
        Cancellation("Scope is being disposed due to TaskGroup destruction")));
  } else {
    close();
  }
  own_scope_.reset();
}

// Whoever stands in line is served before all are told: that would wake it without a grant.
void GroupCore::complete() {
  FERMATA_ASSERT(closed_to_new_);
  FERMATA_ASSERT(is_settled());
  FERMATA_ASSERT(!is_closed());
  Event::close();
  serve_joiners();
  notify(outcome_);
  for (auto& handler : std::exchange(finally_handlers_, {})) {
    ScopeBase& scope = home_->is_open() ? *home_ : runtime().root_scope();
    spawn_in(runtime(), Name("TaskGroup.finally"), SourcePlace::current(), Priority::High, &scope,
             std::move(handler));
  }
  if (abandoned_) report_unhandled();
}

void GroupCore::finally(std::function<void()> handler) {
  if (is_closed()) return handler();
  finally_handlers_.push_back(std::move(handler));
}

void GroupCore::await_completion(const WaitOptions& options, const SourcePlace& place) {
  FERMATA_REQUIRE(closed_to_new_,
                  "await_completion: the task group is open: expected a closed one");
  if (!is_closed()) wait(*this, options, place);
}

// --- results ---

const GroupTask* GroupCore::first_done() const noexcept {
  const GroupTask* each = settled_.first();
  while (each != nullptr && each->state_ != GroupTask::State::Done) {
    each = GroupTask::Order::after(*each);
  }
  return each;
}

void GroupCore::mark_handled() noexcept {
  for (GroupTask* task = tasks_.first(); task != nullptr;
       task = GroupTask::SpawnOrder::after(*task)) {
    if (task->state_ == GroupTask::State::Failed) task->mark_handled();
  }
}

std::vector<std::exception_ptr> errors_of(const GroupCore& group) {
  std::vector<std::exception_ptr> errors;
  for (const GroupTask* task = group.tasks().first(); task != nullptr;
       task = GroupTask::SpawnOrder::after(*task)) {
    if (task->error()) errors.push_back(task->error());
  }
  return errors;
}

void GroupCore::add_waiter(std::unique_ptr<GroupWaiter> waiter) {
  waiters_.push_back(std::move(waiter));
  resolve_waiters();
}

// All that are due are taken out, oldest first, before the first one is resolved (TG-05).
void GroupCore::resolve_waiters() {
  const auto due = std::stable_partition(
      waiters_.begin(), waiters_.end(), [this](const auto& waiter) { return !waiter->due(*this); });
  std::vector<std::unique_ptr<GroupWaiter>> ready(std::make_move_iterator(due),
                                                  std::make_move_iterator(waiters_.end()));
  waiters_.erase(due, waiters_.end());
  for (const auto& waiter : ready) waiter->resolve(*this);
}

GroupTask* GroupCore::after(const GroupTask* last, const WaitOptions& options,
                            const SourcePlace& place) {
  const Deadline deadline(options);
  check_token(options);
  for (;;) {
    GroupTask* const next = last != nullptr ? GroupTask::Order::after(*last) : settled_.first();
    if (next != nullptr || is_closed()) return next;
    Waiter me(cursors_);
    me.park(*this, deadline.remaining(), place);
  }
}

void GroupCore::report_unhandled() noexcept {
  std::vector<std::exception_ptr> errors;
  for (GroupTask* task = tasks_.first(); task != nullptr;
       task = GroupTask::SpawnOrder::after(*task)) {
    if (task->is_unhandled()) errors.push_back(task->error_);
    task->mark_handled();
  }
  if (errors.empty()) return;
  const auto error = std::make_exception_ptr(CompositeError(std::move(errors)));
  if (!home_->is_open() || runtime().scheduler().is_shutting_down()) {
    return runtime().report_unhandled(error);
  }
  spawn_in(runtime(), Name("TaskGroup.errors"), SourcePlace::current(), Priority::Normal,
           home_.get(), [error] { std::rethrow_exception(error); });
}

// --- consuming ---

GroupCore::Joiner::Joiner(GroupCore& group, Join kind)
    : Waiter(group.joiners(kind)), group_(Ref<GroupCore>::share(group)), kind_(kind) {}

GroupCore::Joiner::~Joiner() {
  if (!in_line()) return;
  leave();
  group_->give_back(granted_tasks_);
  group_->serve_joiners();
}

std::vector<GroupTask*> GroupCore::Joiner::take() {
  const bool served = leave();
  FERMATA_ASSERT(served || group_->can_satisfy(kind_));
  return served ? std::move(granted_tasks_) : group_->take(kind_);
}

bool GroupCore::can_satisfy(Join kind) const noexcept {
  switch (kind) {
    case Join::Next:
      return !settled_.empty() || is_settled();
    case Join::Stream:
      return !settled_.empty() || is_closed();
    case Join::Any:
      return first_done() != nullptr || is_settled();
    case Join::All:
      break;
  }
  return is_settled();
}

// REQUIRES: it can be satisfied.
std::vector<GroupTask*> GroupCore::take(Join kind) noexcept {
  FERMATA_ASSERT(can_satisfy(kind));
  std::vector<GroupTask*> taken;
  const auto grab = [&](GroupTask& task) {
    settled_.remove(task);
    tasks_.remove(task);
    taken.push_back(&task);
  };
  const bool one = kind == Join::Next || kind == Join::Stream;
  if (one && !settled_.empty()) {
    grab(*settled_.first());
  } else if (const GroupTask* done = first_done(); kind == Join::Any && done != nullptr) {
    grab(const_cast<GroupTask&>(*done));
  } else {
    while (GroupTask* next = settled_.first()) grab(*next);
    std::sort(taken.begin(), taken.end(), [](const GroupTask* left, const GroupTask* right) {
      return left->index_ < right->index_;
    });
  }
  return taken;
}

// Everything goes back to its old place.
void GroupCore::give_back(const std::vector<GroupTask*>& tasks) noexcept {
  for (GroupTask* task : tasks) {
    FERMATA_ASSERT(task->sequence_ != 0);
    GroupTask* later = settled_.first();
    while (later != nullptr && later->sequence_ < task->sequence_) {
      later = GroupTask::Order::after(*later);
    }
    later != nullptr ? settled_.insert_before(*later, *task) : settled_.push_back(*task);
    GroupTask* next = tasks_.first();
    while (next != nullptr && next->index_ < task->index_) {
      next = GroupTask::SpawnOrder::after(*next);
    }
    next != nullptr ? tasks_.insert_before(*next, *task) : tasks_.push_back(*task);
  }
}

void GroupCore::serve_joiners() {
  for (const Join kind : {Join::Next, Join::Stream, Join::Any, Join::All}) {
    WaitQueue& line = joiners(kind);
    while (auto* joiner = static_cast<Joiner*>(line.oldest())) {
      if (!can_satisfy(kind)) break;
      joiner->granted_tasks_ = take(kind);
      line.grant();
    }
  }
}

std::vector<GroupTask*> GroupCore::join(Join kind, const WaitOptions& options,
                                        const SourcePlace& place) {
  check_token(options);
  if (can_join(kind)) return take(kind);
  Joiner me(*this, kind);
  me.park(*this, options, place);
  FERMATA_ASSERT(me.granted());
  return me.take();
}

}  // namespace fermata::detail
