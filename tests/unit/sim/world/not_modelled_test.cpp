// SPDX-License-Identifier: Apache-2.0

// docs/not_modelled.md is true: each call that it lists says so itself.

#include <gtest/gtest.h>

#include <csignal>
#include <exception>
#include <functional>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/io/descriptor.hpp"
#include "fermata/io/process.hpp"
#include "fermata/io/signal.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/io/thread.hpp"
#include "fermata/io/udp.hpp"
#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/tape/decisions.hpp"
#include "fermata/sim/world/world.hpp"
#include "fermata/sync/await.hpp"

namespace fermata::sim {
namespace {

/// What `call` throws in a simulated world.
std::string error_in_world(const std::function<void()>& call) {
  const auto strategy = make_strategy("fifo");
  Decisions decisions(*strategy);
  World world(decisions);
  std::string error;
  world.node("main", [&] {
    try {
      call();
    } catch (const Unsupported& unsupported) {
      error = unsupported.what();
    }
  });
  world.run();
  EXPECT_FALSE(world.failure());
  return error;
}

TEST(NotModelled, SocketsProcessesAndSignalsOfThreads) {
  const auto in_thread = [](void (*call)()) {
    return error_in_world([call] {
      try {
        await(spawn_thread(call));
      } catch (const RemoteError& failed) {
        std::rethrow_exception(failed.original());
      }
    });
  };
  const std::string streams = "reactor 'sim' has no part 'streams of threads'";
  EXPECT_EQ(in_thread([] { (void)TcpStream::connect({"10.0.0.1", 80}); }), streams);
  EXPECT_EQ(in_thread([] {
              (void)UdpSocket::bind({"127.0.0.1", 0});
            }),
            "reactor 'sim' has no part 'datagrams of threads'");
  EXPECT_EQ(in_thread([] { (void)Process::spawn({.program = "any"}); }),
            "reactor 'sim' has no part 'processes of threads'");
  EXPECT_EQ(in_thread([] { SignalWatch watch(SIGHUP); }),
            "reactor 'sim' has no part 'signals of threads'");
  EXPECT_EQ(in_thread([] { const Descriptor descriptor(0); }),
            "reactor 'sim' has no part 'polls of threads'");
}

TEST(NotModelled, ProcessesThatAreStopped) {
  for (const int signum : {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU}) {
    const auto stop = [signum] {
      Process::spawn({.program = "/bin/sh", .arguments = {"-c", "any"}}).kill(signum);
    };
    EXPECT_EQ(error_in_world(stop), "reactor 'sim' has no part 'stopping of processes'");
  }
}

/// An error of a program that nobody catches ends the run.
TEST(NotModelled, FailsTheRunThatDoesNotExpectIt) {
  const auto strategy = make_strategy("fifo");
  Decisions decisions(*strategy);
  World world(decisions);
  world.node("main", [] { await(spawn_thread([] { const Descriptor descriptor(0); })); });
  world.run();
  ASSERT_TRUE(world.failure());
  EXPECT_EQ(world.failure()->verdict, Verdict::Safety);
  EXPECT_NE(world.failure()->message.find("has no part 'polls of threads'"), std::string::npos);
}

}  // namespace
}  // namespace fermata::sim
