// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/remote_promise.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/uv/reactor.hpp"
#include "tests/support/checks.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

TEST(RemotePromiseTest, CompletesFromManyThreads) {
  FERMATA_CHECKS("FUT-16");
  Runtime runtime(uv::make_reactor());
  runtime.run([] {
    constexpr int kCount = 200;
    std::vector<std::thread> threads;
    std::vector<Future<std::unique_ptr<int>>> futures;
    for (int i = 0; i < kCount; ++i) {
      Promise<std::unique_ptr<int>> promise;
      futures.push_back(promise.future());
      threads.emplace_back([i, remote = RemotePromise(std::move(promise))]() mutable {
        remote.complete(std::make_unique<int>(i));
      });
    }
    for (int i = 0; i < kCount; ++i) EXPECT_EQ(*await(futures[static_cast<std::size_t>(i)]), i);
    for (std::thread& thread : threads) thread.join();
  });
}

// Whatever the reader does, and whenever: a value that comes is the one that was sent, and a work
// that is not wanted any more learns of it.
TEST(RemotePromiseTest, SurvivesEveryInterleavingOfBothSides) {
  FERMATA_CHECKS("FUT-16", "FUT-17");
  Runtime runtime(uv::make_reactor());
  runtime.run([&] {
    for (int round = 0; round < 500; ++round) {
      std::atomic<bool> go = false;
      Promise<int> promise;
      std::optional<Future<int>> future(promise.future());
      future->event().mark_result_used();
      std::thread producer([&go, round, remote = RemotePromise(std::move(promise))]() mutable {
        while (!go.load()) {
        }
        if (round % 3 == 0) remote.complete(round);
        if (round % 3 == 1) remote.fail(std::make_exception_ptr(Error("failed")));
      });
      go.store(true);
      switch (round % 4) {
        case 0:
          future->cancel();
          break;
        case 1:
          future.reset();
          break;
        case 2:
          suspend();
          future.reset();
          break;
        default:
          try {
            EXPECT_EQ(await(*future), round);
          } catch (const BrokenPromise&) {
            EXPECT_EQ(round % 3, 2);
          } catch (const Error& error) {
            EXPECT_EQ(round % 3, 1) << error.what();
          }
      }
      producer.join();
    }
  });
}

TEST(RemotePromiseTest, OutlivesTheRunOfItsReader) {
  FERMATA_CHECKS("FUT-16");
  std::optional<RemotePromise<int>> left;
  auto kept_by_handler = std::make_shared<int>(1);
  {
    RuntimeOptions options;
    options.shutdown_deadline = 10ms;
    Runtime runtime(uv::make_reactor(), options);
    runtime.run([&] {
      Promise<int> promise;
      promise.future().map([kept_by_handler](int value) { return value; }).ignore();
      left.emplace(std::move(promise));
      shutdown();  // Otherwise the run would wait for it.
    });
    EXPECT_EQ(kept_by_handler.use_count(), 1) << "a chain that nobody will run is dropped";
    left->complete(1);
  }
  EXPECT_FALSE(left->try_complete(2));
}

}  // namespace
}  // namespace fermata::test
