// SPDX-License-Identifier: Apache-2.0

// Real descriptors, on every real reactor, and what happens when somebody closes them.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "fermata/runtime/base/error.hpp"
#include "fermata/runtime/core/spawn.hpp"
#include "fermata/runtime/io/descriptor.hpp"
#include "fermata/runtime/sync/await.hpp"
#include "tests/conformance/poll_arm.hpp"
#include "tests/conformance/uv_arm.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;

template <class Arm>
class DescriptorPolls : public ::testing::Test {};
using RealArms = ::testing::Types<conformance::UvArm, conformance::PollArm>;
TYPED_TEST_SUITE(DescriptorPolls, RealArms);

/// Two connected sockets, closed by whoever still has them at the end.
struct Sockets {
  Sockets() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0); }
  ~Sockets() {
    for (const int end : ends) {
      if (end >= 0) ::close(end);
    }
  }
  void send() { EXPECT_EQ(::write(ends[1], "x", 1), 1); }
  void close(std::size_t index) { ::close(std::exchange(ends[index], -1)); }
  [[nodiscard]] int mine() const { return ends[0]; }

  std::array<int, 2> ends{};
};

TYPED_TEST(DescriptorPolls, TellWhenADescriptorIsReady) {
  TypeParam::run([] {
    Sockets sockets;
    Descriptor descriptor(sockets.mine());
    EXPECT_EQ(descriptor.wait_writable(), PollMask::Writable);
    EXPECT_THROW(descriptor.wait_readable({.timeout = 2ms}), Timeout);
    auto waiter = spawn("waiter", [&] { return descriptor.wait_readable(); });
    suspend();
    sockets.send();
    EXPECT_EQ(await(waiter), PollMask::Readable);
    EXPECT_EQ(descriptor.wait(PollMask::Readable | PollMask::Writable),
              PollMask::Readable | PollMask::Writable);
  });
}

TYPED_TEST(DescriptorPolls, AHangUpWakesReadersAndWriters) {
  FERMATA_CHECKS("POLL-03");
  TypeParam::run([] {
    Sockets sockets;
    Descriptor descriptor(sockets.mine());
    const auto both = PollMask::Readable | PollMask::Disconnect;
    auto reader = spawn("reader", [&] { return descriptor.wait(both); });
    suspend();
    sockets.close(1);
    EXPECT_EQ(await(reader), both);
    EXPECT_TRUE(any(descriptor.wait_writable() & PollMask::Disconnect));
  });
}

TYPED_TEST(DescriptorPolls, WatchPipes) {
  TypeParam::run([] {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
    Descriptor reading(ends[0]);
    Descriptor writing(ends[1]);
    writing.wait_writable();
    ASSERT_EQ(::write(ends[1], "x", 1), 1);
    EXPECT_EQ(reading.wait_readable(), PollMask::Readable);
    ::close(ends[1]);
    ::close(ends[0]);
  });
}

TYPED_TEST(DescriptorPolls, WhatCannotBeWatchedIsRefused) {
  TypeParam::run([] {
    EXPECT_EQ(test::thrown_by([] { const Descriptor none(-1); }),
              "fermata::PollError: watch descriptor -1: Bad file descriptor");
    char name[] = "/tmp/fermata-XXXXXX";
    const int file = mkstemp(name);
    ::unlink(name);
    EXPECT_EQ(test::thrown_by([&] { const Descriptor regular(file); }),
              "fermata::PollError: watch descriptor " + std::to_string(file) +
                  ": expected a socket, a pipe or a device, got a regular file");
    ::close(file);
  });
}

TYPED_TEST(DescriptorPolls, ADescriptorClosedWhileSomebodyWaitsIsReportedAsDisconnected) {
  TypeParam::run([] {
    Sockets sockets;
    Descriptor descriptor(sockets.mine());
    auto waiter = spawn("waiter", [&] { return descriptor.wait_readable(); });
    suspend();
    sockets.close(0);
    EXPECT_EQ(await(waiter), PollMask::Disconnect);
  });
}

TYPED_TEST(DescriptorPolls, ADescriptorClosedBeforeTheWaitIsAnError) {
  TypeParam::run([] {
    Sockets sockets;
    Descriptor descriptor(sockets.mine());
    const std::string number = std::to_string(sockets.mine());
    sockets.close(0);
    EXPECT_EQ(
        test::thrown_by([&] { descriptor.wait_readable(); }),
        "fermata::PollError: watch descriptor " + number + ": it was closed: Bad file descriptor");
  });
}

TYPED_TEST(DescriptorPolls, ANumberThatMeansAnotherFileNowIsNotMistakenForTheOldOne) {
  TypeParam::run([] {
    Sockets sockets;
    Sockets others;
    Descriptor descriptor(sockets.mine());
    auto waiter = spawn("waiter", [&] { return descriptor.wait_readable(); });
    suspend();
    ASSERT_EQ(dup2(others.mine(), sockets.mine()), sockets.mine());
    others.send();
    EXPECT_EQ(await(waiter), PollMask::Disconnect);
    EXPECT_THROW(descriptor.wait_readable(), PollError);
  });
}

TYPED_TEST(DescriptorPolls, AClosedDescriptorWhoseDuplicateLivesDoesNotSpin) {
  TypeParam::run([] {
    Sockets sockets;
    Sockets healthy;
    const int duplicate = ::dup(sockets.mine());
    Descriptor well(healthy.mine());
    auto well_waiter = spawn("well", [&] { return well.wait_readable(); });
    Descriptor descriptor(sockets.mine());
    auto waiter = spawn("waiter", [&] { return descriptor.wait_readable(); });
    suspend();
    sockets.close(0);
    EXPECT_EQ(await(waiter), PollMask::Disconnect);
    sockets.send();  // From now on the stale registration is ready, for ever.
    delay(5ms);
    const std::uint64_t polls = current_runtime().metrics().polls;
    delay(20ms);
    EXPECT_LT(current_runtime().metrics().polls - polls, 10u);
    healthy.send();
    EXPECT_EQ(await(well_waiter), PollMask::Readable);
    ::close(duplicate);
  });
}

TYPED_TEST(DescriptorPolls, ManyDescriptorsAreLookedAfterInRotation) {
  TypeParam::run([] {
    std::vector<Sockets> sockets(40);
    std::vector<Coroutine<PollMask>> waiters;
    for (const Sockets& each : sockets) {
      waiters.push_back(
          spawn("waiter", [number = each.mine()] { return Descriptor(number).wait_readable(); }));
    }
    suspend();
    sockets[33].close(0);
    EXPECT_EQ(await(waiters[33]), PollMask::Disconnect);
    for (Sockets& each : sockets) {
      if (each.mine() >= 0) each.send();
    }
    for (std::size_t i = 0; i < waiters.size(); ++i) {
      if (i == 33) continue;
      EXPECT_EQ(await(waiters[i]), PollMask::Readable);
    }
  });
}

TYPED_TEST(DescriptorPolls, AnOwnedDescriptorIsClosedOnceAfterItsWatch) {
  FERMATA_CHECKS("POLL-07", "CLOSE-08", "IO-11");
  TypeParam::run([] {
    Sockets sockets;
    const int mine = std::exchange(sockets.ends[0], -1);
    {
      const Descriptor owner(mine, DescriptorOwner::Runtime);
      const Descriptor other(mine);
      EXPECT_NE(fcntl(mine, F_GETFD), -1);
    }
    EXPECT_EQ(fcntl(mine, F_GETFD), -1);
    const Descriptor borrowed(sockets.ends[1]);
  });
}

}  // namespace
}  // namespace fermata
