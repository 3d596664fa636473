// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "fermata/runtime/sync/pool.hpp"
#include "tests/support/pool_bench.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace {

std::size_t allocations = 0;

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* block = std::malloc(size)) return block;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }

namespace fermata::test {
namespace {

TEST(PoolAllocation, NoneForAnIdleResource) {
  TestRuntime fixture;
  Service service;
  fixture.run([&] {
    Pool<Connection> pool(service.options(2));
    pool.acquire().release();
    const std::size_t before = allocations;
    for (int i = 0; i < 100; ++i) {
      pool.acquire().release();
      { const auto lease = pool.acquire(); }
      pool.try_acquire()->release();
      pool.acquire({.timeout = std::chrono::seconds(1)}).release();
    }
    EXPECT_EQ(allocations, before);
    EXPECT_GT(before, 0u);
  });
}

}  // namespace
}  // namespace fermata::test
