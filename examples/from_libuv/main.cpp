// SPDX-License-Identifier: Apache-2.0

// Work on another thread, then a timer, with libuv alone: docs/guide/from_libuv.md shows it beside
// the same with coroutines.

#include <uv.h>

#include <cstdio>

namespace {

struct Job {
  uv_work_t work;
  uv_timer_t timer;
  int answer = 0;
};

void compute(uv_work_t* work) { static_cast<Job*>(work->data)->answer = 6 * 7; }

void show(uv_timer_t* timer) {
  std::printf("the answer is %d\n", static_cast<Job*>(timer->data)->answer);
  uv_close(reinterpret_cast<uv_handle_t*>(timer), nullptr);
}

void computed(uv_work_t* work, int status) {
  auto* job = static_cast<Job*>(work->data);
  if (status != 0) return;
  uv_timer_init(work->loop, &job->timer);
  job->timer.data = job;
  uv_timer_start(&job->timer, show, 10, 0);
}

}  // namespace

int main() {
  Job job;
  job.work.data = &job;
  uv_queue_work(uv_default_loop(), &job.work, compute, computed);
  uv_run(uv_default_loop(), UV_RUN_DEFAULT);
  return uv_loop_close(uv_default_loop());
}
