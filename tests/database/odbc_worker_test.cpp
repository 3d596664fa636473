// SPDX-License-Identifier: Apache-2.0

// Calls of ODBC on threads, and what stops them.

#include "fermata/db/odbc/worker.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <vector>

#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "tests/database/driver_fixture.hpp"
#include "tests/support/checks.hpp"

namespace fermata::database_test {
namespace {

using namespace std::chrono_literals;
using db::odbc::Worker;

/// Work that goes on until it is let go.
class Gate {
 public:
  void open() { state_->let_go.set_value(); }
  [[nodiscard]] auto work() {
    return [state = state_] {
      state->begun = true;
      state->opened.wait();
    };
  }
  void await_begun() const {
    while (!state_->begun) delay(1ms);
  }

 private:
  struct State {
    std::atomic<bool> begun = false;
    std::promise<void> let_go;
    std::shared_future<void> opened = let_go.get_future().share();
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// What keeps every thread busy, and then some.
constexpr int kMoreThanThreads = 16;

TEST(OdbcWorker, AStopThatFindsNoThreadInTimeStopsNothing) {
  FERMATA_CHECKS("DB-11");
  in_runtime([] {
    Worker worker;
    Gate command;
    auto caller = spawn([&] { worker.run(command.work()); });
    command.await_begun();
    Gate others;
    std::vector<Coroutine<>> waiting;
    for (int i = 0; i < kMoreThanThreads; ++i) {
      waiting.push_back(spawn([&] { offload(others.work()); }));
    }
    others.await_begun();
    caller.cancel();
    EXPECT_THROW(await(caller), Cancellation);
    ASSERT_TRUE(worker.is_busy());

    const auto stops = std::make_shared<std::atomic<int>>(0);
    worker.stop([stops] { ++*stops; });
    command.open();
    while (worker.is_busy()) delay(1ms);
    others.open();
    for (const auto& coroutine : waiting) await(coroutine);
    for (int i = 0; i < kMoreThanThreads; ++i) offload([] {});
    EXPECT_EQ(*stops, 0);
    EXPECT_EQ(worker.run([] { return 42; }), 42);
  });
}

TEST(OdbcWorker, WhatRunsIsStoppedUntilItEnds) {
  in_runtime([] {
    Worker worker;
    Gate command;
    auto caller = spawn([&] { worker.run(command.work()); });
    command.await_begun();
    caller.cancel();
    EXPECT_THROW(await(caller), Cancellation);
    int stops = 0;
    EXPECT_TRUE(worker.stop_until(now() + 10s, [&] {
      if (++stops == 3) command.open();
    }));
    EXPECT_GE(stops, 3);
    EXPECT_FALSE(worker.is_busy());
  });
}

}  // namespace
}  // namespace fermata::database_test
