// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is known of a pool of threads and of each task: from the tasks themselves, and from those
// who wait for them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "properties/models/complaint.hpp"

namespace fermata::models {

/// What a pool says of itself.
struct ThreadPoolFigures {
  std::uint64_t submitted = 0, pending = 0, running = 0, completed = 0, cancelled = 0, rejected = 0;
  std::size_t workers = 0;
};

class ThreadPoolModel {
 public:
  struct Task {
    std::size_t number = 0;
    bool fails = false;
    bool withdrawn = false;  // Its future was cancelled before it began.
    bool unwanted = false;   // Its future was cancelled, or may have been, or the pool was.
    bool begun = false;
    bool ended = false;        // Its body, not by a cancellation.
    bool interrupted = false;  // Its body, by a cancellation.
    std::size_t worker = 0;
  };

  ThreadPoolModel(std::size_t workers, std::size_t concurrency)
      : workers_(workers), concurrency_(concurrency) {}

  // --- its threads; `worker` counts them from 0, in the order in which they begin ---

  [[nodiscard]] std::size_t worker_begins() {
    running_on_.push_back(0);
    return running_on_.size() - 1;
  }
  [[nodiscard]] std::size_t workers_begun() const { return running_on_.size(); }
  /// No task begins any more on one of the first `count` workers.
  void reloaded(std::size_t count) { retired_ = std::max(retired_, count); }

  [[nodiscard]] Complaint begins(Task& task, std::size_t worker) {
    if (task.begun) return about(task, "TP-05 (ONCE)", "runs twice");
    task.begun = true;
    task.worker = worker;
    if (task.withdrawn) return about(task, "TP-04 (CANC)", "begins after it was cancelled");
    if (worker < retired_) return about(task, "TP-05 (VAL)", "begins on a thread of before");
    if (pool_cancelled_ && may_begin_-- == 0) {
      return about(task, "TP-04 (CANC)", "begins after the pool was cancelled");
    }
    if (++running_on_[worker] > concurrency_) {
      return about(task, "TP-02 (CAP)", "is one too many on its thread");
    }
    ++running_;
    return {};
  }
  void ends(Task& task) {
    --running_on_[task.worker];
    --running_;
  }

  /// The pool was cancelled, and says that `running` tasks run: no others begin.
  void cancel(std::uint64_t running) {
    pool_cancelled_ = true;
    may_begin_ = running - running_;
  }
  /// A worker ends before its time.
  void lose_worker() { ++lost_; }
  [[nodiscard]] bool has_lost_workers() const { return lost_ > 0; }

  // --- its users ---

  void accepted() { ++accepted_; }

  /// `task` is told to have succeeded, with the value of the task `number`, or to have failed with
  /// its error.
  [[nodiscard]] Complaint settled(const Task& task, std::size_t number, bool failed) const {
    if (!task.ended) return about(task, "TP-03 (TIME)", "has not ended, and is told to have");
    if (number != task.number || failed != task.fails) {
      return about(task, "TP-03 (VAL)", "is told to have ended as another one");
    }
    return {};
  }
  [[nodiscard]] Complaint cancelled(const Task& task) const {
    return task.unwanted || lost_ > 0
               ? Complaint()
               : about(task, "TP-03 (CANC)", "is told to be cancelled by nobody");
  }

  // --- figures ---

  [[nodiscard]] Complaint figures_are_sound(const ThreadPoolFigures& now) const {
    if (now.submitted != now.pending + now.running + now.completed + now.cancelled + now.rejected) {
      return "TP-01 (VAL): the figures do not add up";
    }
    if (now.running > now.workers * concurrency_ || running_ > now.workers * concurrency_) {
      return "TP-02 (CAP): " + std::to_string(now.running) + " run on " +
             std::to_string(now.workers) + " threads";
    }
    return {};
  }
  [[nodiscard]] Complaint at_rest(const ThreadPoolFigures& now, bool closed) const {
    if (now.pending + now.running > 0 || running_ > 0) {
      return "TP-03 (WAKE): a task is left that nobody runs";
    }
    const std::size_t expected = closed ? 0 : workers_;
    if (now.workers != expected && (closed || lost_ == 0)) {
      return "TP-02 (VAL): " + std::to_string(now.workers) + " threads are left";
    }
    return {};
  }
  [[nodiscard]] Complaint at_end(const ThreadPoolFigures& now, std::uint64_t ended) const {
    if (now.submitted < accepted_) return "TP-01 (VAL): a task was accepted and not counted";
    if (now.completed != ended) {
      return "TP-01 (VAL): " + std::to_string(ended) + " tasks have ended, " +
             std::to_string(now.completed) + " are counted";
    }
    return {};
  }

 private:
  [[nodiscard]] static Complaint about(const Task& task, const std::string& rule,
                                       const std::string& what) {
    return rule + ": task " + std::to_string(task.number) + ' ' + what;
  }

  std::size_t workers_;
  std::size_t concurrency_;
  std::vector<std::size_t> running_on_;  // How many tasks, for each worker.
  std::size_t running_ = 0;
  std::size_t retired_ = 0;
  std::size_t lost_ = 0;
  std::uint64_t may_begin_ = 0;
  bool pool_cancelled_ = false;
  std::uint64_t accepted_ = 0;
};

}  // namespace fermata::models
