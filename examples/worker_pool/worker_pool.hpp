// SPDX-License-Identifier: Apache-2.0
#pragma once

// Workers that share a queue of jobs, and a shutdown that loses none of them.

#include <fermata/runtime.hpp>
#include <functional>
#include <string>
#include <vector>

using Job = std::function<void()>;

class WorkerPool {
 public:
  WorkerPool(std::size_t workers, std::size_t queue) : jobs_("jobs", queue) {
    for (std::size_t i = 0; i < workers; ++i) {
      workers_.push_back(fermata::spawn("worker " + std::to_string(i), [jobs = jobs_] {
        for (Job& job : jobs) job();
      }));
    }
  }

  /// Waits while the queue is full. Returns whether the job was accepted: then it will be done.
  bool submit(Job job) {
    try {
      jobs_.send(std::move(job));
      return true;
    } catch (const fermata::ChannelError&) {
      return false;
    }
  }

  /// Accepts nothing more, and returns when everything accepted has been done.
  void shut_down() {
    // The queue is closed, and the workers empty it. Cancelling them instead would be quicker, and
    // lose every job that nobody has begun.
    jobs_.close();
    for (const auto& worker : workers_) fermata::await(worker);
  }

 private:
  fermata::Channel<Job> jobs_;
  std::vector<fermata::Coroutine<>> workers_;
};
