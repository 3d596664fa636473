// SPDX-License-Identifier: Apache-2.0

// A queue between two threads, without Fermata: docs/guide/from_threads.md shows it beside the same
// with coroutines.

#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>

int main() {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<int> jobs;
  bool closed = false;
  int sum = 0;

  std::thread worker([&] {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return closed || !jobs.empty(); });
      if (jobs.empty()) return;
      sum += jobs.front();
      jobs.pop_front();
    }
  });

  for (int job = 1; job <= 3; ++job) {
    const std::lock_guard lock(mutex);
    jobs.push_back(job);
    changed.notify_one();
  }
  {
    const std::lock_guard lock(mutex);
    closed = true;
    changed.notify_one();
  }
  worker.join();
  std::printf("the sum is %d\n", sum);
}
