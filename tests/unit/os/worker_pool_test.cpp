// SPDX-License-Identifier: Apache-2.0
#include "fermata/os/worker_pool.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <functional>
#include <future>
#include <list>
#include <utility>

namespace fermata::os {
namespace {

using namespace std::chrono_literals;

WorkerPool& pool() { return WorkerPool::of_process(); }

/// Runs `action` in the pool; its destructor waits for the end, unless it was withdrawn.
class Action final : public Work {
 public:
  explicit Action(std::function<void()> action) : action_(std::move(action)) {
    pool().submit(*this);
  }
  ~Action() override { end_.wait(); }

  void run() noexcept override {
    std::promise<void> ended = std::move(ended_);  // This may be gone once it is set.
    action_();
    ended.set_value();
  }

  [[nodiscard]] bool withdraw() {
    const bool withdrawn = pool().withdraw(*this);
    if (withdrawn) ended_.set_value();
    return withdrawn;
  }

 private:
  std::function<void()> action_;
  std::promise<void> ended_;
  std::future<void> end_ = ended_.get_future();
};

TEST(WorkerPool, RunsAsMuchAtATimeAsItHasThreads) {
  std::promise<void> all;
  const std::shared_future<void> all_run = all.get_future().share();
  std::atomic<std::size_t> running = 0;
  std::atomic<std::size_t> most = 0;
  std::atomic<std::size_t> met = 0;
  std::list<Action> works;
  for (std::size_t i = 0; i < WorkerPool::kThreads + 1; ++i) {
    works.emplace_back([&, all_run] {
      const std::size_t now = ++running;
      if (now > most) most = now;
      if (now == WorkerPool::kThreads && met == 0) all.set_value();
      if (all_run.wait_for(10s) == std::future_status::ready) ++met;
      --running;
    });
  }
  works.clear();
  EXPECT_EQ(met, WorkerPool::kThreads + 1);
  EXPECT_EQ(most, WorkerPool::kThreads);
}

TEST(WorkerPool, GivesBackWhatNoThreadHasBegunWith) {
  std::promise<void> go;
  const std::shared_future<void> gone = go.get_future().share();
  std::atomic<int> done = 0;
  std::list<Action> busy;
  for (std::size_t i = 0; i < WorkerPool::kThreads; ++i) busy.emplace_back([gone] { gone.wait(); });
  Action waits([&] { ++done; });
  EXPECT_TRUE(waits.withdraw());
  EXPECT_FALSE(pool().withdraw(waits));
  go.set_value();
  busy.clear();
  EXPECT_EQ(done, 0);
}

TEST(WorkerPool, TakesNoSignals) {
  bool blocked = false;
  {
    const Action asks([&] {
      sigset_t mask;
      pthread_sigmask(SIG_SETMASK, nullptr, &mask);
      blocked = sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGUSR1) == 1;
    });
  }
  EXPECT_TRUE(blocked);
}

}  // namespace
}  // namespace fermata::os
