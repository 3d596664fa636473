// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>
#include <utility>

#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/channel.hpp"
#include "fermata/sync/future.hpp"
#include "fermata/sync/pool.hpp"
#include "fermata/sync/task.hpp"
#include "tests/support/allocation_count.hpp"
#include "tests/support/pool_bench.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

TEST(PoolAllocation, NoneForAnIdleResource) {
  TestRuntime fixture;
  Service service;
  fixture.run([&] {
    const AllocationCount allocations;
    Pool<Connection> pool(service.options(2));
    pool.acquire().release();
    const std::size_t before = allocations.value();
    for (int i = 0; i < 100; ++i) {
      pool.acquire().release();
      { const auto lease = pool.acquire(); }
      pool.try_acquire()->release();
      pool.acquire({.timeout = std::chrono::seconds(1)}).release();
    }
    EXPECT_EQ(allocations.value(), before);
    EXPECT_GT(before, 0u);
  });
}

Task<> does_nothing() { co_return; }

Task<> waits(const Future<int>& future, const Channel<int>& channel, const AllocationCount& count,
             std::size_t& for_waits) {
  const std::size_t before = count.value();
  for (int i = 0; i < 100; ++i) {
    static_cast<void>(co_await future);
    co_await fermata::after(std::chrono::milliseconds(1));
    static_cast<void>(channel.try_send(i));
    static_cast<void>(co_await receive(channel));
    co_await operation([] { suspend(); });
  }
  for_waits = count.value() - before;
}

TEST(TaskAllocation, OneForEachCallAndNoneForAWait) {
  TestRuntime fixture;
  fixture.run([&] {
    const AllocationCount allocations;
    Promise<int> promise;
    promise.complete(1);
    const Future<int> future = promise.future();
    const Channel<int> channel("channel", 1);
    delay(std::chrono::milliseconds(1));
    std::size_t for_waits = 1;
    std::size_t before = allocations.value();
    await(waits(future, channel, allocations, for_waits));
    EXPECT_EQ(for_waits, 0u);
    EXPECT_EQ(allocations.value(), before + 1) << "the frame";
    before = allocations.value();
    const auto calls = []() -> Task<> {
      for (int i = 0; i < 9; ++i) co_await does_nothing();
    };
    await(calls());
    EXPECT_EQ(allocations.value(), before + 10);
  });
}

}  // namespace
}  // namespace fermata::test
