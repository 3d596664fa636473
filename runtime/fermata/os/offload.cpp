// SPDX-License-Identifier: Apache-2.0
#include "fermata/os/offload.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/os/worker_pool.hpp"
#include "fermata/system/mutex.hpp"

namespace fermata::os {

/// The jobs that have ended and were not told. It outlives the reactor when a worker does.
struct Offload::Ended {
  void add(std::unique_ptr<Job> job);

  Mutex mutex;
  backend::Reactor* reactor;  // Null when it is gone.
  std::vector<std::unique_ptr<Job>> jobs;
};

class Offload::Job final : public Work {
 public:
  Job(backend::Task& task, std::shared_ptr<Ended> ended) : task_(task), ended_(std::move(ended)) {}

  [[nodiscard]] backend::Task& task() const noexcept { return task_; }
  [[nodiscard]] bool is_cancelled() const noexcept { return cancelled_; }
  void cancel() noexcept { cancelled_ = true; }

  void run() noexcept override {
    Offload::run(task_);
    end();
  }

  /// Gives itself away.
  void end() noexcept {
    const std::shared_ptr<Ended> ended = ended_;
    ended->add(std::unique_ptr<Job>(this));
  }

 private:
  backend::Task& task_;
  std::shared_ptr<Ended> ended_;
  bool cancelled_ = false;
};

void Offload::Ended::add(std::unique_ptr<Job> job) {
  const std::lock_guard lock(mutex);
  if (reactor == nullptr) return;
  jobs.push_back(std::move(job));
  reactor->wake();
}

Offload::Offload(fermata::detail::Attachment& attachment, backend::Reactor& reactor)
    : fermata::backend::Offload(attachment), ended_(std::make_shared<Ended>()) {
  ended_->reactor = &reactor;
}

Offload::~Offload() {
  std::vector<std::unique_ptr<Job>> untold;
  const std::lock_guard lock(ended_->mutex);
  ended_->reactor = nullptr;
  untold.swap(ended_->jobs);
}

void Offload::enqueue(backend::Task& task) {
  auto entry = std::make_unique<Job>(task, ended_);
  WorkerPool::of_process().submit(*entry);
  ++in_flight_;
  job(task) = entry.release();
}

bool Offload::dequeue(backend::Task& task) noexcept {
  auto* const entry = static_cast<Job*>(job(task));
  FERMATA_ASSERT(entry != nullptr);
  if (!WorkerPool::of_process().withdraw(*entry)) return false;
  entry->cancel();
  entry->end();
  return true;
}

void Offload::deliver() {
  if (in_flight_ == 0) return;
  std::vector<std::unique_ptr<Job>> jobs;
  {
    const std::lock_guard lock(ended_->mutex);
    jobs.swap(ended_->jobs);
  }
  for (const std::unique_ptr<Job>& job : jobs) {
    FERMATA_ASSERT(in_flight_ > 0);
    --in_flight_;
    finish(job->task(), job->is_cancelled());
  }
}

}  // namespace fermata::os
