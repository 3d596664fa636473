// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/offload.hpp"

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/wait_facts.hpp"

namespace fermata::backend {

Task::Task(Offload& offload)
    : Event(offload.attachment_.runtime(), EventKind::Task), offload_(offload) {}

void Task::arm() {
  FERMATA_ASSERT(!is_closed());
  if (queued_) return;
  offload_.enqueue(*this);
  queued_ = true;
  add_ref();  // The worker's.
}

void Task::explain_wait(WaitFacts& facts, const CoroutineBase&) const {
  facts.is("task", {}, nullptr);
  facts.outside("a thread for blocking work");
}

bool Task::cancel() {
  if (!queued_ || is_closed()) return false;
  if (!taken_back_) taken_back_ = offload_.dequeue(*this);
  return taken_back_;
}

void Offload::run(Task& task) noexcept {
  FERMATA_ASSERT(task.error_ == nullptr);
  try {
    task.work();
  } catch (...) {
    task.error_ = std::current_exception();
  }
}

void Offload::finish(Task& task, bool cancelled) {
  FERMATA_ASSERT(task.queued_);
  FERMATA_ASSERT(!task.is_closed());
  const auto worker = Ref<Task>::adopt(task);
  if (cancelled) {
    task.error_ = std::make_exception_ptr(Error("Thread pool task was cancelled"));
  }
  task.outcome_.error = std::exchange(task.error_, nullptr);
  if (!task.outcome_.error) task.outcome_.result = task.result_address();
  try {
    task.notify_and_close(task.outcome_);
  } catch (...) {
    task.runtime().report_unhandled(std::current_exception());
  }
}

}  // namespace fermata::backend
