// SPDX-License-Identifier: Apache-2.0

// Handlers of C that run when their thread is cancelled in one of the calls that wait.

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <vector>

#include "tests/posix/library/cleanups.h"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using Body = void* (*)(void*);

int make_listener() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = {.sin_family = AF_INET,
                               .sin_port = htons(80),
                               .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)},
                               .sin_zero = {}};
  EXPECT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(listener, 1), 0);
  return listener;
}

/// All who waited have left their lines: what comes now is there for others.
void expect_left_alone(cleanups& shared, int writer) {
  EXPECT_EQ(::pthread_mutex_trylock(&shared.mutex), 0);
  EXPECT_EQ(::pthread_cond_signal(&shared.condition), 0);
  EXPECT_EQ(::pthread_mutex_unlock(&shared.mutex), 0);
  EXPECT_EQ(::pthread_cond_destroy(&shared.condition), 0);
  EXPECT_EQ(::sem_post(&shared.semaphore), 0);
  EXPECT_EQ(::sem_trywait(&shared.semaphore), 0);
  char byte = 0;
  if (shared.kind == WAIT_ACCEPT) return;
  EXPECT_EQ(::write(writer, "x", 1), 1);
  EXPECT_EQ(::read(shared.descriptor, &byte, 1), 1);
}

void cancel_it(wait_kind kind, Body body) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  cleanups shared = {};
  shared.kind = kind;
  shared.descriptor = kind == WAIT_ACCEPT ? make_listener() : ends[0];
  shared.mutex = PTHREAD_MUTEX_INITIALIZER;
  shared.condition = PTHREAD_COND_INITIALIZER;
  ASSERT_EQ(::sem_init(&shared.semaphore, 0, 0), 0);
  pthread_t thread = 0;
  ASSERT_EQ(::pthread_create(&thread, nullptr, body, &shared), 0);
  ::sleep(1);
  ASSERT_EQ(::pthread_cancel(thread), 0);
  void* result = nullptr;
  ASSERT_EQ(::pthread_join(thread, &result), 0);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  const std::vector<int> order(shared.order, shared.order + shared.count);
  const std::vector<int> expected =
      kind == WAIT_CONDITION ? std::vector<int>{3, 2, 1} : std::vector<int>{2, 1};
  EXPECT_EQ(order, expected);
  expect_left_alone(shared, ends[1]);
}

class Cleanups : public test::WorldFixture {
 protected:
  void cancel_all(Body body) {
    for (int kind = 0; kind < WAIT_KINDS; ++kind) {
      SCOPED_TRACE(kind);
      begin(1);
      world_->node("main", [&] { cancel_it(static_cast<wait_kind>(kind), body); });
      run();
    }
  }
};

TEST_F(Cleanups, RunInOrderWhereTheyAreJumpedTo) { cancel_all(&wait_with_jumps); }

TEST_F(Cleanups, RunInOrderWhereTheStackIsUnwound) { cancel_all(&wait_with_unwinding); }

}  // namespace
}  // namespace fermata::sim
