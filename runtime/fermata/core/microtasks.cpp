// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/microtasks.hpp"

namespace fermata::detail {

namespace {

struct ReleaseTask {
  backend::Microtask& task;
  ~ReleaseTask() { task.release(); }
};

}  // namespace

void MicrotaskQueue::push(backend::Microtask& task) {
  FERMATA_ASSERT(task.ref_count() > 0);
  if (task.is_cancelled()) return;
  tasks_.push_back(&task);
  task.add_ref();
}

void MicrotaskQueue::run_first() {
  FERMATA_ASSERT(!tasks_.empty());
  backend::Microtask& task = *tasks_.front();
  tasks_.pop_front();
  const ReleaseTask release{task};
  if (!task.is_cancelled()) task.run();
}

void MicrotaskQueue::clear() noexcept {
  while (!tasks_.empty()) {
    backend::Microtask& task = *tasks_.front();
    tasks_.pop_front();
    task.release();
  }
}

}  // namespace fermata::detail
