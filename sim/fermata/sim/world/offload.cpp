// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/world/offload.hpp"

#include <fmt/format.h>

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/sim/base/amount.hpp"
#include "fermata/sim/machine/machine.hpp"

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
  cancelled.stage = Stage::Cancelled;
  machine_.agenda().schedule(cancelled, machine_.now(), key_of(machine_.key(), cancelled.number));
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

void SimOffload::end(Job& ended) {
  FERMATA_ASSERT(ended.stage != Stage::Queued);
  backend::Task& task = ended.task;
  const bool cancelled = ended.stage == Stage::Cancelled || machine_.over();
  if (ended.stage == Stage::Running) {
    FERMATA_ASSERT(running_ > 0);
    --running_;
  }
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
