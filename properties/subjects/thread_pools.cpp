// SPDX-License-Identifier: Apache-2.0

// A pool of threads whose tasks wait, fail and leave coroutines behind, while its users submit,
// cancel, forget, reload, close and join.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fermata/io/thread_pool.hpp"
#include "fermata/runtime.hpp"
#include "properties/models/thread_pool_model.hpp"
#include "properties/scripts/law.hpp"
#include "properties/subjects/listed.hpp"

namespace fermata::properties {
namespace {
namespace thread_pools {

using std::chrono::microseconds;
using Model = models::ThreadPoolModel;

/// Which worker a thread is.
const ContextKey<std::size_t> kWorker("worker");

/// What the tasks know; shared with the threads.
class Floor {
 public:
  Floor(const Stage& stage, std::size_t workers, std::size_t concurrency)
      : model(workers, concurrency), world_(stage.world()), shape_(stage.script().shape) {}

  /// Some threads fail to begin.
  [[nodiscard]] bool fails() const { return shape_[3] == 7; }
  /// Some tasks end their threads.
  [[nodiscard]] bool is_deadly() const { return shape_[3] == 6; }

  struct Task : Model::Task {
    unsigned effort = 0;
  };

  void complain(const models::Complaint& complaint) {
    if (!complaint.empty()) world_.fail(sim::Verdict::Safety, complaint);
  }

  std::shared_ptr<Task> make(unsigned effort) {
    auto task = std::make_shared<Task>();
    task->number = tasks_.size();
    task->effort = effort;
    task->fails = effort % 5 == 4;
    tasks_.push_back(task);
    return task;
  }

  [[nodiscard]] const std::vector<std::shared_ptr<Task>>& tasks() const { return tasks_; }

  // --- in a thread ---

  void boot() {
    root_context().set(kWorker, model.worker_begins());
    if (fails() && model.workers_begun() > shape_[1] / 2u) throw PlannedError(0);
  }

  std::size_t work(Task& task) {
    complain(model.begins(task, *root_context().find(kWorker)));
    struct End {
      Floor& floor;
      Task& task;
      ~End() { floor.model.ends(task); }
    } const end{*this, task};
    try {
      if (task.effort % 4 == 1) spawn("left behind", [] { delay(std::chrono::hours(1)); });
      if (is_deadly() && task.effort % 8 == 7) {
        model.lose_worker();
        current_runtime().shutdown();
      }
      for (unsigned i = 0; i < task.effort % 3; ++i) delay(microseconds(task.effort));
    } catch (const Cancellation&) {
      task.interrupted = true;
      throw;
    }
    task.ended = true;
    if (task.fails) throw PlannedError(static_cast<std::uint32_t>(task.number));
    return task.number;
  }

  Model model;

 private:
  sim::World& world_;
  std::array<std::uint8_t, 4> shape_;
  std::vector<std::shared_ptr<Task>> tasks_;
};

class ThreadPools final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {14, "submit", does<&ThreadPools::submit_one>},
        {8, "await", does<&ThreadPools::take>},
        {3, "cancel a future", does<&ThreadPools::withdraw>},
        {2, "forget a future", does<&ThreadPools::forget>},
        {2, "map", does<&ThreadPools::map_some>},
        {2, "reload", does<&ThreadPools::reload>},
        {2, "look", does<&ThreadPools::only_look>},
        {1, "join", does<&ThreadPools::join>},
        {1, "close", does<&ThreadPools::close_early>},
        {1, "cancel the pool", does<&ThreadPools::cancel_early>},
    });
  }

  explicit ThreadPools(Stage& on)
      : Subject(on),
        mode_(on.script().shape[2] % 2 == 0 ? ThreadPoolMode::Sync : ThreadPoolMode::Coroutine),
        floor_(std::make_shared<Floor>(on, workers(), concurrency())),
        pool_({.workers = workers(),
               .queue = 1u + on.script().shape[1] % 3u,
               .on_thread_start = [floor = floor_] { floor->boot(); },
               .mode = mode_,
               .concurrency = 1u + on.script().shape[2] / 2u}) {}

  void perform(const Operation& operation, const Cue& cue) override {
    look();
    Subject::perform(operation, cue);
  }

  /// A future, and its place, if there is any.
  template <class Use>
  void choose(const Cue& cue, Use use) {
    if (orders_.empty()) return;
    const std::size_t index = number_of(cue) % orders_.size();
    const Order order = orders_[index];
    use(order, index);
  }

  void at_rest() override {
    look();
    std::size_t parked = 0;
    for (std::size_t actor = 0; actor < stage.actor_count(); ++actor) {
      parked += stage.parked(actor) ? 1 : 0;
    }
    if (parked > (pool_.is_closed() ? 0 : joining_)) {
      stage.complain("TP-03 (WAKE): somebody waits for a pool that has nothing to do");
    }
    for (const Order& order : orders_) {
      if (!order.future.is_completed()) stage.complain("TP-03 (WAKE): a future is pending");
    }
    stage.complain(floor_->model.at_rest(figures(), pool_.is_closed()));
  }

  void let_go() override { close(); }

  void at_end() override {
    at_rest();
    const auto ended = std::count_if(floor_->tasks().begin(), floor_->tasks().end(),
                                     [](const auto& task) { return task->ended; });
    stage.complain(floor_->model.at_end(figures(), static_cast<std::uint64_t>(ended)));
  }

 private:
  struct Order {
    Future<std::size_t> future;
    std::shared_ptr<Floor::Task> task;
  };

  [[nodiscard]] std::size_t workers() const { return 1u + stage.script().shape[0] % 3u; }
  [[nodiscard]] std::size_t concurrency() const {
    return mode_ == ThreadPoolMode::Sync ? 1u : 1u + stage.script().shape[2] / 2u;
  }
  [[nodiscard]] models::ThreadPoolFigures figures() const {
    const ThreadPoolCounters c = pool_.counters();
    return {c.submitted, c.pending,  c.running,           c.completed,
            c.cancelled, c.rejected, pool_.worker_count()};
  }
  void only_look() {}  // The law is checked after each operation.
  void look() {
    stage.complain(floor_->model.figures_are_sound(figures()));
    const bool may_have_failed = floor_->fails() || floor_->model.has_lost_workers();
    if (pool_.is_closed() != closed_ && !may_have_failed) {
      stage.complain("TP-06 (ERR): it is closed, and nobody has closed it");
    }
  }

  /// The pool may have closed, or its threads may have failed to begin.
  template <class Action>
  void refusable(Action action) {
    try {
      action();
    } catch (const ThreadPoolError& error) {
      if (!pool_.is_closed() && !floor_->model.has_lost_workers()) {
        stage.complain(fmt::format("TP-06 (ERR): an open pool says: {}", error.what()));
      }
    } catch (const PlannedError&) {
      if (!floor_->fails() || !pool_.is_closed()) {
        stage.complain("TP-03 (ERR): the error of a task that nobody awaits");
      }
    }
  }

  [[nodiscard]] static unsigned number_of(const Cue& cue) {
    return static_cast<unsigned>(cue.actor) + cue.number;
  }

  void submit_one(const Cue& cue) {
    refusable([&] { submit(number_of(cue) * 7 % 32); });
  }
  void submit(unsigned effort) {
    const auto task = floor_->make(effort);
    const auto future = pool_.submit([floor = floor_, task] { return floor->work(*task); });
    if (pool_.is_closed()) stage.complain("TP-06 (VAL): a closed pool has accepted a task");
    floor_->model.accepted();
    if (effort % 2 == 0) future.ignore();
    if (cancelled_) task->unwanted = true;
    orders_.push_back({future, task});
  }

  void withdraw(const Cue&, const Order& order, std::size_t) {
    order.task->unwanted = true;
    order.future.cancel();
    order.task->withdrawn = !order.task->begun;
  }
  void forget(const Cue&, const Order& order, std::size_t index) {
    order.task->unwanted = true;
    orders_.erase(orders_.begin() + static_cast<std::ptrdiff_t>(index));
  }
  void take(const Cue& cue, const Order& order, std::size_t) {
    try {
      const std::size_t number = await(order.future, cue.patience);
      stage.complain(floor_->model.settled(*order.task, number, false));
    } catch (const PlannedError& error) {
      if (order.task->begun || !floor_->fails()) {
        stage.complain(floor_->model.settled(*order.task, error.number, true));
      }
    } catch (const ThreadPoolError& error) {
      if (!floor_->model.has_lost_workers() || order.task->begun) {
        stage.complain(fmt::format("TP-03 (ERR): a task is told: {}", error.what()));
      }
    } catch (const AwaitedCancelled& awaited) {
      if (awaited.previous() != order.future.error()) {
        stage.complain("TP-04 (CANC): the cancellation is not the task's");
      }
      stage.complain(floor_->model.cancelled(*order.task));
    }
    if (order.task->ended && !order.task->unwanted) count(order);
  }

  // Each task whose end somebody has seen is counted as completed.
  void count(const Order& order) {
    if (std::find(seen_.begin(), seen_.end(), order.task->number) == seen_.end()) {
      seen_.push_back(order.task->number);
    }
    if (pool_.counters().completed < seen_.size()) {
      stage.complain("TP-08 (TIME): a task is told to have ended before it is counted");
    }
  }

  void map_some(const Cue& cue) {
    refusable([&] { map(number_of(cue)); });
  }
  void map(unsigned number) {
    std::vector<std::shared_ptr<Floor::Task>> tasks;
    for (unsigned i = 0; i < 1 + number % 4; ++i) tasks.push_back(floor_->make(number * 3 + i));
    const auto fail =
        std::find_if(tasks.begin(), tasks.end(), [](const auto& t) { return t->fails; });
    try {
      const auto results = pool_.map(
          tasks,
          [floor = floor_](const std::shared_ptr<Floor::Task>& t) { return floor->work(*t); });
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (results.size() != tasks.size() || results[i] != tasks[i]->number) {
          stage.complain("TP-07 (VAL): the results are not those of the items");
        }
      }
      if (fail != tasks.end())
        stage.complain("TP-07 (ERR): an item has failed, and nobody is told");
    } catch (const Cancellation&) {
      if (!cancelled_ && !floor_->model.has_lost_workers()) throw;
      return;
    } catch (const PlannedError& error) {
      if (floor_->fails() && pool_.is_closed()) throw;
      if (fail == tasks.end() || (*fail)->number != error.number) {
        stage.complain("TP-07 (ERR): the error is not that of the first item that failed");
      }
    }
    for (const auto& task : tasks) {
      if (task->begun && !task->ended && !task->interrupted) {
        stage.complain("TP-07 (TIME): map has returned, and an item is being worked on");
      }
    }
  }

  void reload() {
    refusable([&] {
      const std::size_t before = floor_->model.workers_begun();
      pool_.reload();
      if (!pool_.is_closed()) floor_->model.reloaded(before);
    });
  }

  void join() {
    const Counted counted(joining_);
    pool_.join();
    if (pool_.worker_count() > 0) stage.complain("TP-05 (TIME): joined, and a thread is left");
  }

  void close_early(const Cue& cue) {
    if (cue.number < 8) close();
  }
  void close() {
    pool_.close();
    closed_ = true;
  }
  void cancel_early(const Cue& cue) {
    if (cue.number >= 8) return;
    closed_ = true;
    cancelled_ = true;
    for (const auto& task : floor_->tasks()) task->unwanted = true;
    pool_.cancel();
    floor_->model.cancel(figures().running);
  }

  ThreadPoolMode mode_;
  std::shared_ptr<Floor> floor_;
  ThreadPool pool_;
  std::vector<Order> orders_;
  std::vector<std::size_t> seen_;  // Tasks whose end somebody has seen.
  std::size_t joining_ = 0;
  bool closed_ = false;
  bool cancelled_ = false;
};

}  // namespace thread_pools
}  // namespace

constinit const Law kThreadPools = {
    "thread_pools",
    "an accepted task runs once or is told why not, on threads that are there, and no more at once",
    {"TP-01", "TP-02", "TP-03", "TP-04", "TP-05", "TP-06", "TP-07", "TP-08"},
    &scripts_over<thread_pools::ThreadPools>};

}  // namespace fermata::properties
