// SPDX-License-Identifier: Apache-2.0
#include "fermata/uv/offload.hpp"

#include <memory>

#include "fermata/base/assert.hpp"

namespace fermata::uv::detail {

struct Offload::Job {
  uv_work_t request;
  Offload& offload;
  backend::Task& task;

  static void work(uv_work_t* request) noexcept { run(static_cast<Job*>(request->data)->task); }

  static void done(uv_work_t* request, int status) noexcept {
    auto* const job = static_cast<Job*>(request->data);
    job->offload.loop_.complete([job, status] {
      const std::unique_ptr<Job> ended(job);
      FERMATA_ASSERT(job->offload.in_flight_ > 0);
      --job->offload.in_flight_;
      finish(job->task, status == UV_ECANCELED);
    });
  }
};

void Offload::enqueue(backend::Task& task) {
  FERMATA_ASSERT(job(task) == nullptr);
  auto entry = std::unique_ptr<Job>(new Job{{}, *this, task});
  entry->request.data = entry.get();
  check(uv_queue_work(loop_.get(), &entry->request, &Job::work, &Job::done), "queue a task");
  ++in_flight_;
  job(task) = entry.release();
}

bool Offload::dequeue(backend::Task& task) noexcept {
  auto* entry = static_cast<Job*>(job(task));
  FERMATA_ASSERT(entry != nullptr);
  return uv_cancel(reinterpret_cast<uv_req_t*>(&entry->request)) == 0;
}

}  // namespace fermata::uv::detail
