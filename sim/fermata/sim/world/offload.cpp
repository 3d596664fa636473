// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/world/offload.hpp"

#include <utility>

#include "fermata/core/runtime.hpp"
#include "fermata/sim/world/node_state.hpp"

namespace fermata::sim::detail {

namespace {
constexpr Duration kShortestWork = std::chrono::microseconds(10);
constexpr std::uint64_t kWorkLengths = 12;  // Each twice the one before.
}  // namespace

void SimOffload::enqueue(Task& task) {
  jobs_.emplace_back(*this, task, next_number_++);
  jobs_.back().self = std::prev(jobs_.end());
  job(task) = &jobs_.back();
  start_queued();
}

bool SimOffload::dequeue(Task& task) noexcept {
  Job& cancelled = *static_cast<Job*>(job(task));
  if (cancelled.stage != Stage::Queued) return false;
  cancelled.stage = Stage::Cancelled;
  node_.agenda().schedule(cancelled, node_.now(), key_of(node_.key(), cancelled.number));
  return true;
}

void SimOffload::start_queued() {
  for (Job& next : jobs_) {
    if (running_ == kThreads) return;
    if (next.stage != Stage::Queued) continue;
    next.stage = Stage::Running;
    ++running_;
    const std::uint64_t length =
        node_.decisions().draw(Stream::Offload, key_of(node_.key(), "work"), kWorkLengths);
    node_.agenda().schedule(next, node_.now() + kShortestWork * (1 << length),
                            key_of(node_.key(), next.number));
  }
}

void SimOffload::end(Job& ended) {
  Task& task = ended.task;
  const bool cancelled = ended.stage == Stage::Cancelled || node_.cut();
  if (ended.stage == Stage::Running) --running_;
  jobs_.erase(ended.self);
  if (!cancelled) {
    Runtime* const here = std::exchange(fermata::detail::current_runtime_pointer, nullptr);
    run(task);
    fermata::detail::current_runtime_pointer = here;
  }
  finish(task, cancelled);
  start_queued();
}

}  // namespace fermata::sim::detail
