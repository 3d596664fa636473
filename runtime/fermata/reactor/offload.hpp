// SPDX-License-Identifier: Apache-2.0
#pragma once

// Work on other threads.
//
// Ownership   The work in flight holds a reference to its task: whoever waits may vanish, inputs
//             and outputs stay until the worker returns (THR-01).
// Outcome     Closed first, then told once (THR-02); kept for late waiters. A running task cannot
//             be stopped; the result of one that nobody wants is dropped.
// Activity    While somebody waits for it.

#include <exception>

#include "fermata/reactor/handle.hpp"

namespace fermata::backend {

class Offload;

/// One piece of work. Starting it, which a wait does, queues it.
class Task : public Event {
 public:
  /// Takes it back when no worker has begun: then it ends with the error "Thread pool task was
  /// cancelled". Returns whether it does, until it has ended.
  bool cancel();

  [[nodiscard]] const Outcome* replay() const noexcept override {
    return is_closed() ? &outcome_ : nullptr;
  }
  void explain_wait(WaitFacts& facts, const CoroutineBase& waiter) const override;

 protected:
  explicit Task(Offload& offload);
  ~Task() override = default;

  /// On a worker's thread. What it throws becomes the task's error.
  virtual void work() = 0;
  /// Where the result is, after work() returned.
  [[nodiscard]] virtual void* result_address() noexcept = 0;

 private:
  friend class Offload;

  void arm() override;

  Offload& offload_;
  Outcome outcome_;
  std::exception_ptr error_;  // The worker's, until the task is finished.
  void* job_ = nullptr;       // The backend's.
  bool queued_ = false;
  bool taken_back_ = false;
};

class Offload {
 public:
  virtual ~Offload() = default;

 protected:
  explicit Offload(detail::Attachment& attachment) noexcept : attachment_(attachment) {}

  // --- hooks ---

  /// run() is to be called on a worker's thread, then finish() inside a turn. Throws when it
  /// cannot.
  virtual void enqueue(Task& task) = 0;
  /// Whether run() will not be called any more; finish() follows then with `cancelled`.
  virtual bool dequeue(Task& task) noexcept = 0;

  // --- for the backend ---

  /// On a worker's thread.
  static void run(Task& task) noexcept;
  /// On the runtime's thread. The task may be gone when this returns.
  static void finish(Task& task, bool cancelled);
  /// A place of the backend's own, null at first.
  [[nodiscard]] static void*& job(Task& task) noexcept { return task.job_; }

  detail::Attachment& attachment_;

 private:
  friend class Task;
};

}  // namespace fermata::backend
