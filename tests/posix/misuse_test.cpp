// SPDX-License-Identifier: Apache-2.0

// Wrong use that ends as on Linux: by an error, or by a report of who has overflowed a stack.

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "fermata/core/suspend.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

class Misuse : public test::WorldFixture {};

TEST_F(Misuse, ADescriptorOfAnotherMachineIsNotOpen) {
  int descriptor = -1;
  world_->node("one", [&] {
    descriptor = socket(AF_INET, SOCK_STREAM, 0);
    delay(1s);
    EXPECT_EQ(close(descriptor), 0);
  });
  world_->node("other", [&] {
    delay(1ms);
    EXPECT_EQ(write(descriptor, "x", 1), -1);
    EXPECT_EQ(errno, EBADF);
    EXPECT_EQ(close(descriptor), -1);
    EXPECT_EQ(errno, EBADF);
  });
  run();
}

[[gnu::noinline]] int recurse_for_ever(int depth) {
  volatile char frame[512];
  frame[0] = static_cast<char>(depth);
  if (depth < 0) return 0;
  return recurse_for_ever(depth + 1) + frame[0];
}

TEST_F(Misuse, AThreadWhoseStackOverflowsIsNamed) {
  const auto overflow = [&] {
    world_->node("main", [] {
      pthread_t thread = 0;
      pthread_create(
          &thread, nullptr,
          [](void*) -> void* {
            recurse_for_ever(0);
            return nullptr;
          },
          nullptr);
      pthread_join(thread, nullptr);
    });
    world_->run();
  };
  EXPECT_DEATH(overflow(), "stack overflow in coroutine [0-9]+ 'thread 1'");
}

}  // namespace
}  // namespace fermata::sim
