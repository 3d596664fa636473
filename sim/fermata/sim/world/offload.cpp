// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/world/offload.hpp"

#include <fmt/format.h>

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/posix/threads.hpp"
#include "fermata/sim/base/amount.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/posix/kernel.hpp"

namespace fermata::sim::detail {

namespace {
constexpr Duration kShortestWork = std::chrono::microseconds(10);
constexpr std::uint64_t kWorkLengths = 12;  // Each twice the one before.
}  // namespace

void SimOffload::enqueue(backend::Task& task) {
  jobs_.emplace_back(*this, task, next_number_++);
  jobs_.back().self = std::prev(jobs_.end());
  job(task) = &jobs_.back();
  start_queued();
}

bool SimOffload::dequeue(backend::Task& task) noexcept {
  Job& cancelled = *static_cast<Job*>(job(task));
  FERMATA_ASSERT(&cancelled.task == &task);
  if (cancelled.stage != Stage::Queued) return false;
  schedule_end(cancelled, Stage::Cancelled);
  return true;
}

void SimOffload::start_queued() {
  FERMATA_ASSERT(running_ <= kThreads);
  for (Job& next : jobs_) {
    if (running_ == kThreads) return;
    if (next.stage != Stage::Queued) continue;
    next.stage = Stage::Running;
    ++running_;
    const auto tell = [&](const Decision& decision) {
      return fmt::format("the {} work that '{}' gives to its pool takes {}",
                         ordinal(decision.occurrence + 1u), machine_.name(),
                         amount(kShortestWork * (1 << decision.value)));
    };
    const std::uint64_t length = machine_.decisions().draw(
        backend::RandomStream::Offload, key_of(machine_.key(), "work"), kWorkLengths, tell);
    machine_.agenda().schedule(next, machine_.now() + kShortestWork * (1 << length),
                               key_of(machine_.key(), next.number));
  }
}

void SimOffload::happened(Job& job) {
  FERMATA_ASSERT(job.stage != Stage::Queued);
  if (job.stage == Stage::Running && !machine_.over()) {
    if (!is_served()) {
      Runtime* const here = std::exchange(fermata::detail::current_runtime_pointer, nullptr);
      run(job.task);
      fermata::detail::current_runtime_pointer = here;
      job.stage = Stage::Done;
    } else if (has_threads_ && start_thread(job)) {
      return;  // It ends when its thread does.
    }
  }
  end(job);
}

bool SimOffload::is_served() const noexcept {
  return posix::serving == &kernel_ && kernel_.threads() != nullptr;
}

bool SimOffload::start_thread(Job& job) {
  const auto run_job = [](void* argument) -> void* {
    Job& started = *static_cast<Job*>(argument);
    run(started.task);
    started.offload.schedule_end(started, Stage::Done);
    return nullptr;
  };
  if (!kernel_.begin_worker(run_job, &job)) return false;
  job.stage = Stage::InThread;
  return true;
}

void SimOffload::schedule_end(Job& job, Stage stage) noexcept {
  job.stage = stage;
  machine_.agenda().schedule(job, machine_.now(), key_of(machine_.key(), job.number));
}

// Threads have ended with their process, wherever they were.
void SimOffload::end_threads() noexcept {
  has_threads_ = false;
  for (Job& job : jobs_) {
    if (job.stage == Stage::InThread) schedule_end(job, Stage::Running);
  }
}

void SimOffload::end(Job& ended) {
  backend::Task& task = ended.task;
  const bool has_run = ended.stage == Stage::Done;
  if (ended.stage != Stage::Cancelled) {
    FERMATA_ASSERT(running_ > 0);
    --running_;
  }
  jobs_.erase(ended.self);
  finish(task, !has_run);
  start_queued();
}

}  // namespace fermata::sim::detail
