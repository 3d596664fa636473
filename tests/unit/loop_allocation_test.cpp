// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <new>

#include "fermata/runtime/loop/loop.hpp"
#include "tests/conformance/uv_arm.hpp"

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

namespace fermata::loop {
namespace {

TEST(LoopAllocation, NoneForTimersDefersMicrotasksAndDescriptorsInSteadyState) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
  conformance::UvArm::run([&] {
    Loop loop;
    std::size_t before = 0;
    int rounds = 0;
    int microtasks = 0;
    int others = 0;
    const CallbackId writable = loop.on_writable(ends[0], [&] { ++others; });
    loop.repeat(0, [&](CallbackId id) {
      if (++rounds == 1000) before = allocations;
      if (rounds == 2000) {
        EXPECT_EQ(allocations, before);
        loop.cancel(id);
        loop.cancel(writable);
      }
      loop.defer([&] { ++others; });
      loop.delay(0, [&] { ++others; });
      loop.cancel(loop.delay(10, [&] { ++others; }));
      loop.queue([&] { ++microtasks; });
    });
    loop.run();
    EXPECT_EQ(microtasks, 2000);
    EXPECT_GE(others, 2 * 2000);
  });
  for (const int end : ends) ::close(end);
}

}  // namespace
}  // namespace fermata::loop
