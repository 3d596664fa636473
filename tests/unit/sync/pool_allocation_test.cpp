// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "fermata/sync/pool.hpp"
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

}  // namespace
}  // namespace fermata::test
