// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "fermata/loop/loop.hpp"
#include "fermata/loop/tcp/server.hpp"
#include "fermata/poll/backends.hpp"
#include "fermata/poll/reactor.hpp"
#include "fermata/runtime.hpp"
#include "tests/conformance/uv_arm.hpp"
#include "tests/support/allocation_count.hpp"

namespace fermata::loop {
namespace {

TEST(LoopAllocation, NoneForTimersDefersMicrotasksAndDescriptorsInSteadyState) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
  conformance::UvArm::run([&] {
    const test::AllocationCount allocations;
    Loop loop;
    std::size_t before = 0;
    int rounds = 0;
    int microtasks = 0;
    int others = 0;
    const CallbackId writable = loop.on_writable(ends[0], [&] { ++others; });
    loop.repeat(0, [&](CallbackId id) {
      if (++rounds == 1000) before = allocations.value();
      if (rounds == 2000) {
        EXPECT_EQ(allocations.value(), before);
        EXPECT_GT(before, 0u);
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

void echo(TcpConnection& peer, std::string_view message) { peer.send(message); }

/// One message goes to and fro; what its reads and writes allocate, after a thousand others.
std::size_t allocations_of_a_thousand_messages() {
  const test::AllocationCount allocations;
  Loop loop;
  TcpServer server(loop, {"127.0.0.1", 0}, {.on_message = echo});
  std::size_t before = 0;
  std::size_t after = 0;
  int messages = 0;
  const auto client =
      TcpConnection::connect(loop, server.local_address(),
                             {.on_connect = [](TcpConnection& self) { self.send("ping"); },
                              .on_message =
                                  [&](TcpConnection& self, std::string_view message) {
                                    if (++messages == 1000) before = allocations.value();
                                    if (messages < 2000) return echo(self, message);
                                    after = allocations.value();
                                    self.close();
                                    server.stop(1.0);
                                  }});
  loop.run();
  EXPECT_EQ(messages, 2000);
  EXPECT_GT(before, 0u);
  return after - before;
}

TEST(LoopAllocation, NoneForTcpMessagesInSteadyStateOnAnyDriver) {
  conformance::UvArm::run([] { EXPECT_EQ(allocations_of_a_thousand_messages(), 0u); });
  for (const poll::BackendKind kind : poll::available_backends()) {
    SCOPED_TRACE(poll::to_string(kind));
    Runtime runtime(poll::make_reactor(poll::make_backend(kind)));
    runtime.run([] { EXPECT_EQ(allocations_of_a_thousand_messages(), 0u); });
  }
}

}  // namespace
}  // namespace fermata::loop
